// Plans of schedules that wait until somebody with another token than their owner's approves them.
import { useState } from 'preact/hooks';
import { Asking, RunOutput, troubleOf } from './act';
import { type CommandEnd, mayAct, post, type Schedule, type ServerError, type Session, useDocument, useSession } from './api';
import { Shown, Title } from './parts';

interface Decided { text: string; run: number | null; trouble: string }

export function Approvals() {
  const answer = useDocument<Schedule[]>('/api/schedules', undefined), session = useSession();
  const [decided, setDecided] = useState<Decided>(), [isBusy, setBusy] = useState(false);
  const decide = (verb: 'approve' | 'refuse', one: Schedule) => {
    setBusy(true);
    post<CommandEnd>('/api/commands', { words: ['schedule', verb, one.name, '--plan', String(one.plan), '-o', 'json'], wait: 60 }).then((end) => {
      const { run = null } = (end.document ?? {}) as { run?: number | null };
      setDecided({ text: `Plan ${one.plan} of ${one.name} is ${verb}d.`, run: verb === 'approve' ? run : null, trouble: troubleOf(end) });
    }, (error: ServerError) => setDecided({ text: '', run: null, trouble: error.message })).finally(() => { setBusy(false); answer.again(); });
  };
  return <>
    <Title>Plans that wait for approval</Title>
    <div class="buttons"><button type="button" onClick={answer.again}>Look again</button></div>
    {decided !== undefined && (decided.trouble !== '' ? <p class="error" role="alert">{decided.trouble}</p> : <p role="status">{decided.text}</p>)}
    {decided?.trouble === '' && decided.run !== null && <RunOutput key={decided.run} run={decided.run} title={`Run ${decided.run}`} />}
    <Shown answer={answer}>{(all) => {
      const waiting = all.filter((one) => one.plan !== null);
      return waiting.length === 0 ? <p>None waits: <code>fettle schedule add --approve</code> adds a schedule whose plans do.</p>
        : <>{waiting.map((one) => <Waiting key={`${one.name} ${one.plan}`} one={one} session={session} isBusy={isBusy} decide={decide} />)}</>;
    }}</Shown>
  </>;
}

function Waiting({ one, session, isBusy, decide }: { one: Schedule; session?: Session; isBusy: boolean; decide: (verb: 'approve' | 'refuse', one: Schedule) => void }) {
  const isOwn = session !== undefined && session.name === one.token;
  return <section aria-label={`Schedule ${one.name}`}>
    <h2>{one.name}</h2>
    <dl>
      <dt>Command</dt><dd><code>fettle {one.command}</code></dd>
      <dt>Added by</dt><dd>{one.token}</dd>
      {one.commit !== null && <><dt>Commit</dt><dd class="code">{one.commit}</dd></>}
    </dl>
    <RunOutput run={one.plan!} title={`Plan ${one.plan}`} />
    {session === undefined ? null : one.approver !== null ? <p>It is approved by {one.approver}, and begins soon.</p>
      : !mayAct(session) ? <p>You are signed in as {session.name}, whose right is {session.right}: a decision needs the right act.</p>
      : <div class="buttons">
        {isOwn ? <p>The token {one.token} added this schedule: somebody with another token approves its plans.</p>
          : <Asking label={`Approve plan ${one.plan}`} question={`Carry out plan ${one.plan} of ${one.name}?`} disabled={isBusy} act={() => decide('approve', one)} />}
        <Asking label={`Refuse plan ${one.plan}`} question={`Take plan ${one.plan} of ${one.name} away?`} disabled={isBusy} act={() => decide('refuse', one)} />
      </div>}
  </section>;
}
