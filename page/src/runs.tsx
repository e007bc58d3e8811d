import { apiOf, type Act, type Run, type RunPast, useDocument } from './api';
import { place, Shown, spanOf, spanOfMs, State, Table, timeOf, Title, useNow } from './parts';

export function Runs({ environment, rest }: { environment: string; rest: string[] }) {
  return rest[0] === undefined ? <RunList environment={environment} /> : <RunView environment={environment} run={rest[0]} />;
}

function counts(run: Run) {
  return Object.entries(run.counts ?? {}).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(', ');
}

function RunList({ environment }: { environment: string }) {
  const answer = useDocument<{ runs: Run[] }>(apiOf(environment, '/runs'), environment);
  return <>
    <Title>{`Runs of ${environment}`}</Title>
    <Shown answer={answer}>{({ runs }) => runs.length === 0 ? <p>Nothing has been run yet.</p>
      : <Table label="Runs" heads={['Began', 'What', 'Outcome', 'Took', 'Acts']}>
        {runs.map((run) => <tr key={run.run}>
          <th scope="row"><a href={place('env', environment, 'runs', String(run.run))}>{timeOf(run.began)}</a></th>
          <td class="code">{run.what}</td>
          <td>{run.outcome ?? 'not ended'}</td>
          <td>{run.ended === null ? '' : spanOf(run.began, run.ended)}</td>
          <td>{counts(run)}</td>
        </tr>)}
      </Table>}</Shown>
  </>;
}

const most = 1000;
const isOpen = (act: Act) => act.outcome === 'started' || act.outcome === 'pending';

function RunView({ environment, run }: { environment: string; run: string }) {
  const answer = useDocument<RunPast>(apiOf(environment, `/runs/${encodeURIComponent(run)}`), environment);
  const now = useNow(answer.value?.under_way === true);
  return <>
    <Title>{`Run ${run} of ${environment}`}</Title>
    <Shown answer={answer}>{(view) => {
      const begin = Date.parse(view.began), goes = view.under_way;
      // What was begun and has not ended goes on until now, or was cut off with its run.
      const endOf = (act: Act) => goes && isOpen(act) ? Math.max(now, Date.parse(act.ended)) : Date.parse(act.ended);
      const end = Math.max(begin + 1, ...view.acts.map(endOf), view.ended === null ? 0 : Date.parse(view.ended));
      const at = (time: number) => (time - begin) / (end - begin) * 1000;
      return <>
        <p><code>{view.what}</code>, {timeOf(view.began)}: {view.outcome ?? (goes ? 'it is under way' : 'it has not ended')}.</p>
        {view.acts.length === 0 ? <p>{goes ? 'Nothing has been done yet.' : 'It did nothing.'}</p> : <Table label="Time line" heads={['Resource', 'Act', 'State', 'After', 'Took', 'Time']}>
          {view.acts.slice(0, most).map((act) => <tr key={act.key}>
            <th scope="row"><a href={place('env', environment, 'graph', 'node', act.key)}>{act.key}</a></th>
            <td>{act.verb}</td>
            <td><State name={goes && act.outcome === 'started' ? 'under way' : act.outcome} /> {(act.outcome === 'failed' || isOpen(act)) && act.text}</td>
            <td>{spanOf(view.began, act.began)}</td>
            <td>{spanOfMs(endOf(act) - Date.parse(act.began))}</td>
            <td><svg class={`bar ${goes && isOpen(act) ? 'open' : ''}`} viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
              <rect class={act.outcome === 'failed' ? 'act-failed' : ''} x={at(Date.parse(act.began))} width={Math.max(4, at(endOf(act)) - at(Date.parse(act.began)))} y="0" height="10" /></svg></td>
          </tr>)}
        </Table>}
        {view.acts.length > most && <p>{view.acts.length - most} more acts are not shown; <code>fettle events {environment}</code> has all.</p>}
      </>;
    }}</Shown>
  </>;
}
