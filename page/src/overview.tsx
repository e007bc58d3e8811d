import { apiOf, type ArchiveEntry, type ArchiveFile, type Inspected, useDocument } from './api';
import { place, Shown, sizeOf, State, Table, timeOf, Title } from './parts';

export function Overview({ environment }: { environment: string }) {
  const answer = useDocument<Inspected>(apiOf(environment), environment);
  return <>
    <Title>{environment}</Title>
    <Shown answer={answer}>{(view) => <>
      <dl>
        <dt>State</dt><dd><State name={view.status} /></dd>
        <dt>Made</dt><dd>{timeOf(view.created)}</dd>
        <dt>Resources</dt><dd>{view.resources}</dd>
        {view.version !== null && <><dt>Version</dt><dd>{view.version}{view.released !== null && `, released: ${view.released}`}</dd></>}
        {view.orphans.length > 0 && <><dt>Orphans</dt><dd>{view.orphans.map((orphan) => orphan.key).join(', ')}</dd></>}
      </dl>
      <h2>Services</h2>
      {view.services.length === 0 ? <p>There are none.</p> : <Table label="Services" heads={['Name', 'State', 'Ports', 'Image', 'Logs', 'Shell']}>
        {view.services.map((service) => <tr key={service.name}>
          <th scope="row">{service.name}</th>
          <td><State name={service.status} /></td>
          <td>{Object.entries(service.ports).map(([id, port]) => <div key={id}>{id}: {port.url !== undefined && /^https?:/.test(port.url)
            ? <a href={port.url} rel="noreferrer" target="_blank">{port.url}</a> : port.url ?? ''}</div>)}</td>
          <td class="code">{service.image}</td>
          <td><a href={place('env', environment, 'logs', service.name)}>Logs of {service.name}</a></td>
          <td>{service.status === 'running' && <a href={place('env', environment, 'terminal', service.name)}>Terminal in {service.name}</a>}</td>
        </tr>)}
      </Table>}
      <h2>Files artifacts</h2>
      {view.files.length === 0 ? <p>There are none.</p> : <Table label="Files artifacts" heads={['Name', 'Digest']}>
        {view.files.map((file) => <tr key={file.uuid}>
          <th scope="row"><a href={place('env', environment, 'artifact', file.name)}>{file.name}</a></th>
          <td class="code">{file.digest.slice(0, 16)}</td>
        </tr>)}
      </Table>}
    </>}</Shown>
  </>;
}

export function Artifact({ environment, name, file }: { environment: string; name: string; file?: string }) {
  const path = apiOf(environment, `/artifacts/${encodeURIComponent(name)}`);
  const answer = useDocument<ArchiveEntry[]>(path, environment);
  return <>
    <Title>{file === undefined ? `Artifact ${name}` : `${file} of ${name}`}</Title>
    {file !== undefined && <Content key={file} path={`${path}/file?path=${encodeURIComponent(file)}`} environment={environment} file={file} />}
    {file !== undefined && <h2>All files of {name}</h2>}
    <Shown answer={answer}>{(entries) => <Table label="Files" heads={['Path', 'Size']}>
      {entries.map((entry) => <tr key={entry.path}>
        <th scope="row" class="code">{entry.directory ? `${entry.path}/`
          : <a href={place('env', environment, 'artifact', name, entry.path)} aria-current={entry.path === file ? 'page' : undefined}>{entry.path}</a>}</th>
        <td>{entry.directory ? '' : sizeOf(entry.size)}</td>
      </tr>)}
    </Table>}</Shown>
  </>;
}

function Content({ path, environment, file }: { path: string; environment: string; file: string }) {
  const answer = useDocument<ArchiveFile>(path, environment);
  return <Shown answer={answer}>{(entry) => entry.text === null ? <p>It is no text: {sizeOf(entry.size)}.</p>
    : entry.text === '' ? <p>It is empty.</p> : <pre class="file" tabIndex={0} aria-label={file}>{entry.text}</pre>}</Shown>;
}
