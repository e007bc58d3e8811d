import { apiOf, type Difference, useDocument, type Version } from './api';
import { jsonOf, place, Shown, State, Table, timeOf, Title } from './parts';

export function Versions({ environment, rest }: { environment: string; rest: string[] }) {
  return rest[0] === undefined ? <VersionList environment={environment} />
    : <DifferenceView environment={environment} version={rest[0]} from={rest[1]} />;
}

function VersionList({ environment }: { environment: string }) {
  const answer = useDocument<Version[]>(apiOf(environment, '/versions'), environment);
  return <>
    <Title>{`Versions of ${environment}`}</Title>
    <Shown answer={answer}>{(all) => all.length === 0 ? <p>It has no versions: nothing was exported from a model.</p>
      : <Table label="Versions" heads={['Version', 'Made', 'Kind', 'Released', 'Changes']}>
        {[...all].reverse().map((one, i, newest) => <tr key={one.version}>
          <th scope="row">{one.version}</th>
          <td>{timeOf(one.created)}</td>
          <td>{one.partial ? 'partial' : 'full'}</td>
          <td>{one.released === null ? '' : timeOf(one.released)}</td>
          <td>{newest[i + 1] !== undefined && <a href={place('env', environment, 'versions', String(one.version), String(newest[i + 1].version))}>
            from {newest[i + 1].version} to {one.version}</a>}</td>
        </tr>)}
      </Table>}</Shown>
  </>;
}

function DifferenceView({ environment, version, from }: { environment: string; version: string; from?: string }) {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`;
  const differences = useDocument<Difference[]>(apiOf(environment, `/versions/${encodeURIComponent(version)}/diff${query}`), environment);
  const sets = useDocument<{ name: string | null; resources: number }[]>(apiOf(environment, `/versions/${encodeURIComponent(version)}/sets`), environment);
  return <>
    <Title>{from === undefined ? `Version ${version} of ${environment}` : `From version ${from} to ${version} of ${environment}`}</Title>
    <Shown answer={differences}>{(all) => all.length === 0 ? <p>Nothing differs.</p>
      : <ul class="changes">{all.map((one) => <li key={one.id}>
        <State name={one.change} /> <strong>{one.id}</strong>{one.set !== null && ` in ${one.set}`}
        {one.fields.length > 0 && <Table label={`Changes of ${one.id}`} heads={['Field', 'Before', 'After']}>
          {one.fields.map((field) => <tr key={field.field}>
            <th scope="row">{field.field}</th>
            <td><pre>{'before' in field ? jsonOf(field.before) : ''}</pre></td>
            <td><pre>{'after' in field ? jsonOf(field.after) : ''}</pre></td>
          </tr>)}
        </Table>}
      </li>)}</ul>}</Shown>
    <h2>Sets of version {version}</h2>
    <Shown answer={sets}>{(all) => all.length === 0 ? <p>There are none.</p> : <Table label="Sets" heads={['Set', 'Resources']}>
      {all.map((set) => <tr key={set.name ?? ''}><th scope="row">{set.name || 'shared'}</th><td>{set.resources}</td></tr>)}
    </Table>}</Shown>
  </>;
}
