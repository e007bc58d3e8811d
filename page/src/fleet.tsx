import { useEffect, useState } from 'preact/hooks';
import { apiOf, type Fleet as FleetView, type FleetObject, type Rollout, type RolloutAct, type RolloutRow, useDocument } from './api';
import { ImageTable } from './nodes';
import { nodeOf, place, Shown, sizeOf, spanOf, State, Table, text, timeOf, Title, useNow } from './parts';

// How many pods of a workload are missing, and how many may be.
function budgetOf({ spec, status }: FleetObject) {
  const wanted = spec?.replicas ?? status?.desiredNumberScheduled, there = status?.availableReplicas ?? status?.numberAvailable;
  const most = spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? spec?.updateStrategy?.maxUnavailable;
  const missing = typeof wanted === 'number' && typeof there === 'number' ? String(Math.max(0, wanted - there)) : '';
  return missing === '' ? text(most) : most === undefined ? missing : `${missing} of ${most}`;
}

export function Fleet({ environment, rest }: { environment: string; rest: string[] }) {
  const answer = useDocument<FleetView>(apiOf(environment, '/fleet'), environment);
  return <>
    <Title>{`Fleet of ${environment}`}</Title>
    <Shown answer={answer}>{({ objects, pods, images }) => objects.length === 0 && pods.length === 0 ? <p>It has no workloads.</p> : <>
      <h2>Workloads</h2>
      <Table label="Workloads" heads={['Kind', 'Name', 'Phase', 'Wanted', 'Ready', 'Updated', 'Available', 'Missing, at most']}>
        {objects.map((one) => <tr key={`${one.kind} ${one.metadata.namespace} ${one.metadata.name}`}>
          <td>{one.kind}</td>
          <th scope="row">{one.metadata.namespace === undefined ? '' : `${one.metadata.namespace}/`}{one.metadata.name}</th>
          <td>{text(one.status?.phase)}</td>
          <td>{text(one.spec?.replicas ?? one.status?.desiredNumberScheduled)}</td>
          <td>{text(one.status?.readyReplicas ?? one.status?.numberReady)}</td>
          <td>{text(one.status?.updatedReplicas ?? one.status?.updatedNumberScheduled)}</td>
          <td>{text(one.status?.availableReplicas ?? one.status?.numberAvailable)}</td>
          <td>{budgetOf(one)}</td>
        </tr>)}
      </Table>
      <h2>Pods</h2>
      {pods.length === 0 ? <p>There are none.</p> : <Table label="Pods" heads={['Name', 'State', 'Node']}>
        {pods.map((pod) => <tr key={`${pod.metadata.namespace} ${pod.metadata.name}`}>
          <th scope="row">{pod.metadata.namespace}/{pod.metadata.name}</th>
          <td><State name={text(pod.status?.phase)} /></td>
          <td>{nodeOf(pod.spec?.nodeName)}</td>
        </tr>)}
      </Table>}
      <h2>Images</h2>
      <p><a href="#/nodes">Nodes</a> of this home</p>
      {images.length === 0 ? <p>There are none.</p> : <ImageTable label="Images" images={images} />}
      <RolloutView environment={environment} before={rest[0] === 'before' ? rest[1] : undefined} />
    </>}</Shown>
  </>;
}

function RolloutView({ environment, before }: { environment: string; before?: string }) {
  const answer = useDocument<Rollout>(apiOf(environment, `/rollout${before === undefined ? '' : `?before=${encodeURIComponent(before)}`}`), environment);
  const [asked, setAsked] = useState(Date.now());
  const goes = answer.value?.under_way === true, now = useNow(goes);
  useEffect(() => setAsked(Date.now()), [answer.value]);
  return <>
    <h2>{before === undefined ? 'Last rollout' : 'Earlier rollout'}</h2>
    <Shown answer={answer}>{(past) => {
      if (past.pods.length === 0 && past.pulls.length === 0) return <p>Nothing was done to its pods.</p>;
      const from = Date.parse(past.from);
      const to = Math.max(from + 1, Date.parse(past.to) + (goes ? Math.max(0, now - asked) : 0));
      return <>
        <p>{timeOf(past.from)}, {goes ? 'under way for' : 'took'} {spanOf(past.from, new Date(to).toISOString())}.</p>
        <ul class="row legend">{['create', 'update', 'replace', 'remove', 'failed'].map((name) => <li key={name}><span class={`mark act-${name}`} aria-hidden="true" /> {name}</li>)}</ul>
        {past.pulls.length > 0 && <Table label="Pulls" heads={['Image', 'Node', 'Size', 'Last', 'Time']}>
          {past.pulls.map((row) => <tr key={row.key}>
            <th scope="row" class="code">{row.image}</th><td>{nodeOf(row.node)}</td>
            <td>{row.bytes != null && sizeOf(row.bytes)}</td>
            <Acts row={row} from={from} to={to} />
          </tr>)}
        </Table>}
        {past.pods.length > 0 && <Table label="Pods over time" heads={['Pod', 'Node', 'Last', 'Time']}>
          {past.pods.map((row) => <tr key={row.key}>
            <th scope="row"><a href={place('env', environment, 'graph', 'node', row.key)}>{row.name}</a></th><td>{nodeOf(row.node)}</td>
            <Acts row={row} from={from} to={to} />
          </tr>)}
        </Table>}
      </>;
    }}</Shown>
    <p class="row">
      {answer.value?.next != null && <a href={place('env', environment, 'fleet', 'before', String(answer.value.next))}>The rollout before</a>}
      {before !== undefined && <a href={place('env', environment, 'fleet')}>The last rollout</a>}
    </p>
  </>;
}

const colourOf = (act: RolloutAct) => act.outcome === 'failed' || act.outcome === 'blocked' || act.outcome === 'interrupted' ? 'failed' : act.verb;

// What is there is a thin line, what is done to it a bar. The words say the same.
function Acts({ row, from, to }: { row: RolloutRow; from: number; to: number }) {
  const at = (time: string | null) => ((time === null ? to : Date.parse(time)) - from) / (to - from) * 1000;
  const begin = row.was_there ? 0 : at(row.acts[0]?.began ?? null), last = row.acts[row.acts.length - 1];
  const words = row.acts.map((act) => `${act.verb} after ${((Date.parse(act.began) - from) / 1000).toFixed(1)} s: ${act.ended === null ? 'under way' : act.outcome}`).join('; ');
  return <>
    <td>{last !== undefined && <>{last.verb} <State name={last.ended === null ? 'under way' : last.outcome} />{last.error !== null && ` ${last.error}`}</>}</td>
    <td><svg class="bar rollout" viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label={words}>
      <rect class="there" x={begin} width={Math.max(0, at(row.gone) - begin)} y="5" height="2" />
      {row.acts.map((act) => <rect key={act.began} class={`act-${colourOf(act)}`} x={at(act.began)} width={Math.max(4, at(act.ended) - at(act.began))} y="0" height="12" />)}
    </svg></td>
  </>;
}
