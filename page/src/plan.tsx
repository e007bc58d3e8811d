// What a run would do, before it does: in the words of `fettle plan`. At the page of a server, whoever may act carries it
// out, as a command of the server; at one's own page, one does, and it is a process of one's own.
import { useEffect, useState } from 'preact/hooks';
import { Asking, commandOf, RunOutput, troubleOf } from './act';
import { apiOf, type CommandEnd, type FleetPlan, type KeptPlan, type KeptSteps, type MadePlan, mayAct, type PlanStep, post, type ServerError, type Session, type StatePlan, type TestedState, useDocument, useEvents, useSession } from './api';
import { jsonOf, place, Shown, State, Table, timeOf, Title } from './parts';

const verbs = ['create', 'update', 'replace', 'start', 'stop', 'run', 'ensure', 'remove', 'forget', 'blocked'];

export function Plan({ environment }: { environment: string; rest: string[] }) {
  const [isOld, setOld] = useState(false);
  const answer = useDocument<MadePlan>(apiOf(environment, '/plan'), environment, false);
  useEvents((event) => { if (event.environment === environment) setOld(true); }, [environment]);
  useEffect(() => setOld(false), [answer.value]);
  const session = useSession();
  return <>
    <Title>{`Plan of ${environment}`}</Title>
    <p>What would be done now.</p>
    <div class="buttons"><button type="button" onClick={() => { setOld(false); answer.again(); }}>Make the plan again</button>
      {isOld && <p role="status">Something has happened since this plan was made.</p>}</div>
    <Shown answer={answer}>{(made) => <>
      <p><code>{made.command}</code></p>
      {made.source === 'manifests' ? <Rollout plan={made.plan} /> : made.source === 'states' ? <States plan={made.plan} />
        : <Steps environment={environment} plan={made.plan} />}
      {session === undefined ? null : session.name === null ? <CarryOutHere key={made.command} environment={environment} made={made} />
        : <CarryOut environment={environment} made={made} session={session} />}
    </>}</Shown>
    {answer.error !== undefined && typeof session?.name === 'string' && <p>What was made of files that came with a client cannot be planned here, since the server does not keep them.</p>}
    <h2>Kept plans</h2>
    <KeptList environment={environment} />
  </>;
}

// At one's own page, whatever was run last can be run again: its files are on this machine.
function CarryOutHere({ environment, made }: { environment: string; made: MadePlan }) {
  const [isUnderWay, setUnderWay] = useState(false), [isToStop, setToStop] = useState(false), [trouble, setTrouble] = useState(''), [end, setEnd] = useState<{ code: number | null; output: string | null }>();
  const isChecked = made.source === 'package' || made.source === 'model';
  const begin = () => {
    setUnderWay(true);
    setToStop(false);
    setTrouble('');
    setEnd(undefined);
    post<{ code: number | null; output: string | null }>(apiOf(environment, '/plan'), { source: made.source, plan: isChecked ? made.plan.kept : null })
      .then(setEnd, (error: ServerError) => setTrouble(error.message)).finally(() => setUnderWay(false));
  };
  // As Ctrl-C: the first one lets what has begun end.
  const cancel = () => post(apiOf(environment, '/plan/cancel')).then(() => setToStop(true), (error: ServerError) => setTrouble(error.message));
  const isDue = made.source === 'states' || !made.plan.converged;
  return <>
    {isDue && made.carried_out_by.length > 0 && <p>Carried out by <code>{commandOf(made.carried_out_by)}</code>{made.source === 'manifests' && ', which looks again at what is due'}.</p>}
    {isDue && !isUnderWay && (isChecked && made.plan.kept === null ? <p>A plan can be carried out here when nobody is working on the environment.</p>
      : <Asking label="Carry it out" question={`Carry out this plan in ${environment}?`} act={begin} />)}
    {isUnderWay && <div class="buttons"><p role="status">It is being carried out, also without this page; <a href={place('env', environment, 'runs')}>Runs</a> shows it.</p>
      {isToStop && <p role="status">It ends when what has begun is done.</p>}
      <button type="button" onClick={cancel}>{isToStop ? 'Stop it at once' : 'Cancel it'}</button></div>}
    {trouble !== '' && <p class="error" role="alert">{trouble}</p>}
    {end !== undefined && <section aria-label="What was carried out">
      {end.output === null ? <p class="error">Its output cannot be read.</p> : <pre class="log" role="log" tabIndex={0} aria-label="Output">{end.output}</pre>}
      <p role="status" class={end.code === 0 ? undefined : 'error'}>It has ended{end.code === null ? ', nobody knows how' : ` with exit code ${end.code}`}.</p>
    </section>}
  </>;
}

// `--plan` has what was seen carried out, or nothing.
const planFile = '/due.plan';

function CarryOut({ environment, made, session }: { environment: string; made: MadePlan; session: Session }) {
  const [run, setRun] = useState<number>(), [trouble, setTrouble] = useState(''), [begins, setBegins] = useState(false);
  const kept = made.source === 'package' || made.source === 'model' ? made.plan.kept : undefined;
  const words = [...made.carried_out_by, ...(kept ? ['--plan', planFile] : [])];
  const begin = () => {
    setBegins(true);
    setTrouble('');
    setRun(undefined);
    post<CommandEnd>('/api/commands', { words, wait: 0, ...(kept ? { files: { [planFile]: JSON.stringify(kept) } } : {}) }).then((end) => {
      setBegins(false);
      if (end.run === null) setTrouble(troubleOf(end)); else setRun(end.run);
    }, (error: ServerError) => { setBegins(false); setTrouble(error.message); });
  };
  const why = made.carried_out_by.length === 0 || made.reads_files
    ? 'This plan is of files that the server does not keep, so it cannot be carried out here: call the command again where they are.'
    : !mayAct(session) ? `You are signed in as ${session.name}, whose right is ${session.right}: carrying out a plan needs the right act.`
    : kept === null ? 'A plan can be carried out here when nobody is working on the environment.' : '';
  const isDue = made.source === 'states' || !made.plan.converged;
  return <>
    {isDue && made.carried_out_by.length > 0 && <p>Carried out by <code>{commandOf(made.carried_out_by)}</code>{made.source === 'manifests' && ', which looks again at what is due'}.</p>}
    {isDue && (why !== '' ? <p>{why}</p>
      : <Asking label="Carry it out" question={`Carry out this plan in ${environment}?`} disabled={begins} act={begin} />)}
    {trouble !== '' && <p class="error" role="alert">{trouble}</p>}
    {run !== undefined && <RunOutput key={run} run={run} title={`Run ${run}`} />}
  </>;
}

function Steps({ environment, plan }: { environment: string; plan: StatePlan }) {
  const kept = plan.steps.filter((step) => step.verb === 'keep');
  const outlived = kept.filter((step) => step.not_repeated);
  return <>
    {plan.at_work !== null && <p class="error">{plan.at_work} is working on it; its unfinished steps are shown as blocked.</p>}
    {plan.warnings.map((warning) => <p key={warning} class="error">{warning}</p>)}
    {plan.converged && <p>Everything is as wanted.</p>}
    {verbs.map((verb) => <Group key={verb} environment={environment} title={verb} steps={plan.steps.filter((step) => step.verb === verb)} />)}
    <Group environment={environment} title="keep, not repeated" steps={outlived} />
    {plan.shared.length > 0 && <><h2>no longer wanted, left to others</h2>
      <ul>{plan.shared.map((one) => <li key={one.key}>{one.key}: {one.why}</li>)}</ul></>}
    <p>keep {kept.length}{plan.leftover_keys.length > 0 && `; no longer wanted, kept: ${plan.leftover_keys.join(', ')} (\`--prune\` removes ${plan.leftover_keys.length === 1 ? 'it' : 'them'})`}</p>
  </>;
}

function Group({ environment, title, steps }: { environment: string; title: string; steps: PlanStep[] }) {
  return steps.length === 0 ? null : <>
    <h2>{title}</h2>
    <ul class="changes">{steps.map((step) => <li key={step.key}>
      <a href={place('env', environment, 'graph', 'node', step.key)}>{step.key}</a>{step.maybe && ' (maybe)'}: {step.why}
      {step.origin !== null && <div class="origin">{step.origin}</div>}
      {step.fields.length > 0 && <Table label={`Changes of ${step.key}`} heads={['Field', 'Before', 'After']}>
        {step.fields.map((field) => <tr key={field.field}>
          <th scope="row">{field.field}</th>
          <td><pre>{field.before === null ? '' : jsonOf(field.before)}</pre></td>
          <td><pre>{field.after === null ? '' : jsonOf(field.after)}</pre></td>
        </tr>)}
      </Table>}
    </li>)}</ul>
  </>;
}

const isEmpty = (value: unknown) => value === null || value === undefined || Object.keys(value).length === 0;

// The tests of states, as `fettle state --test` tells them.
function States({ plan }: { plan: Record<string, TestedState> }) {
  const all = Object.entries(plan).filter(([, state]) => typeof state === 'object' && state !== null).sort(([, one], [, other]) => one.__run_num - other.__run_num);
  const due = all.filter(([, state]) => state.result !== true || !isEmpty(state.changes));
  return <>
    {due.length === 0 && <p>Everything is as wanted.</p>}
    <ul class="changes">{due.map(([tag, state]) => <li key={tag}>
      <State name={state.result === false ? 'failed' : 'due'} /> <strong>{state.__id__}</strong>{state.name !== state.__id__ && ` (${state.name})`}: {typeof state.comment === 'string' ? state.comment : jsonOf(state.comment)}
      {!isEmpty(state.changes) && <pre tabIndex={0} aria-label={`Changes of ${state.__id__}`}>{jsonOf(state.changes)}</pre>}
    </li>)}</ul>
    <p>keep {all.length - due.length}</p>
  </>;
}

function Rollout({ plan }: { plan: FleetPlan }) {
  return <>
    {plan.warnings.map((warning) => <p key={warning} class="error">{warning}</p>)}
    {plan.converged && <p>Everything is as wanted.</p>}
    {plan.objects.map((one) => {
      const pods = plan.pods.filter((pod) => pod.owner === one.object), pulls = plan.pulls.filter((pull) => pull.owner === one.object);
      return <section key={one.object} aria-label={one.object}>
        <h2>{one.object} <State name={one.status} /></h2>
        {one.takenBack.map((field) => <p key={field.field}>takes back {field.field}: <code>{jsonOf(field.before)}</code> → <code>{jsonOf(field.after)}</code></p>)}
        {pulls.map((pull) => <p key={pull.image}>{pull.nodes.length === 0 ? `image ${pull.image} is present`
          : `pull ${pull.image} on ${pull.nodes.map((node) => node || 'this machine').join(', ')}, ${pull.parallelism} at a time`}</p>)}
        {pods.length > 0 && <Table label={`Pods of ${one.object}`} heads={['Batch', 'Pod', 'Node', 'Action', 'Why']}>
          {pods.map((pod) => <tr key={pod.pod}>
            <td>{pod.batch ?? ''}</td><th scope="row">{pod.pod}</th><td>{pod.node || 'this machine'}</td>
            <td><State name={pod.action} /></td><td>{pod.why}</td>
          </tr>)}
        </Table>}
      </section>;
    })}
  </>;
}

const keptPlace = (plan: KeptPlan) => place('plans', plan.file);

function KeptList({ environment }: { environment?: string }) {
  const answer = useDocument<KeptPlan[]>(`/api/plans${environment === undefined ? '' : `?environment=${encodeURIComponent(environment)}`}`, environment);
  return <Shown answer={answer}>{(all) => all.length === 0 ? <p>There are none: <code>fettle plan --out FILE</code> keeps one.</p>
    : <Table label="Kept plans" heads={['File', 'Environment', 'Of', 'Written', 'Steps']}>
      {all.map((one) => <tr key={one.file}>
        <th scope="row"><a href={keptPlace(one)}>{one.file}</a></th>
        <td>{one.environment}</td>
        <td>{one.version !== null ? `version ${one.version}` : one.package ?? ''}</td>
        <td>{timeOf(one.written)}</td>
        <td>{one.due}</td>
      </tr>)}
    </Table>}</Shown>;
}

export function KeptPlans({ file }: { file?: string }) {
  return file !== undefined ? <Kept file={file} /> : <>
    <Title>Kept plans</Title>
    <KeptList />
  </>;
}

const stands: Record<string, string> = { due: 'It is still what would be done.', stale: 'It is stale, and would be refused.', unknown: 'Whether it is stale is not known.' };

function Kept({ file }: { file: string }) {
  const query = `?file=${encodeURIComponent(file)}`;
  const answer = useDocument<KeptSteps>(`/api/plans/steps${query}`, '');
  const stand = useDocument<{ stand: string; why: string }>(`/api/plans/stand${query}`, '', false);
  return <>
    <Title>{`Plan ${file}`}</Title>
    <Shown answer={stand}>{({ stand: name, why }) => <p role="status"><State name={name} /> {stands[name]} {why}</p>}</Shown>
    <div class="buttons"><button type="button" onClick={stand.again}>Look again</button></div>
    <Shown answer={answer}>{(plan) => <>
      <dl>
        <dt>Environment</dt><dd><a href={place('env', plan.environment)}>{plan.environment}</a></dd>
        {plan.version !== null && <><dt>Version</dt><dd>{plan.version}</dd></>}
        {plan.package !== null && <><dt>Package</dt><dd class="code">{plan.package}</dd></>}
        <dt>Written</dt><dd>{timeOf(plan.written)}</dd>
        <dt>Carried out by</dt><dd><code>{plan.version !== null ? `fettle versions release ${plan.version} -e ${plan.environment} --apply --plan ${plan.file}`
          : plan.package !== null ? `fettle run ${plan.package} -e ${plan.environment} --plan ${plan.file}` : `--plan ${plan.file}`}</code></dd>
      </dl>
      {plan.steps.length === 0 ? <p>Nothing is due.</p> : <Table label="Steps" heads={['Verb', 'Resource']}>
        {plan.steps.map((step) => <tr key={step.key}><td><State name={step.verb} /></td><th scope="row">{step.key}</th></tr>)}
      </Table>}
    </>}</Shown>
  </>;
}
