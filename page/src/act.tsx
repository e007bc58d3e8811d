// What acts, at the page of a server of commands: a command that the server runs for whoever is signed in, as any other
// run of his.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ask, type CommandEnd, type OutputPart, post, type ServerError } from './api';

const most = 200_000, pause = 500;
const messageOf = (error: unknown) => (error as ServerError).message;

// What a run prints, while it does.
export function RunOutput({ run, title }: { run: number; title: string }) {
  const [text, setText] = useState(''), [isCut, setCut] = useState(false), [trouble, setTrouble] = useState('');
  const [end, setEnd] = useState<{ status: string; code: number | null }>();
  useEffect(() => {
    let isWanted = true, timer: number | undefined;
    setText('');
    setCut(false);
    setEnd(undefined);
    const look = async (after: number) => {
      try {
        const part = await ask<OutputPart>(`/api/runs/${run}/output?after=${after}`);
        if (!isWanted) return;
        setTrouble('');
        const more = part.pieces.map((piece) => piece.text).join('');
        setText((before) => {
          const all = before + more;
          if (all.length > most) setCut(true);
          return all.slice(-most);
        });
        if (part.pieces.length > 0) return void look(part.next);
        if (part.status !== 'running') {
          setEnd({ status: part.status, code: part.code });
          return;
        }
        timer = window.setTimeout(() => void look(part.next), pause);
      } catch (error) {
        if (!isWanted) return;
        setTrouble(messageOf(error));
        // Without an answer it may come back; a refusal stays one.
        if ((error as ServerError).status === 0 || (error as ServerError).status >= 500) timer = window.setTimeout(() => void look(after), 4 * pause);
      }
    };
    void look(0);
    return () => { isWanted = false; window.clearTimeout(timer); };
  }, [run]);
  const cancel = () => post(`/api/runs/${run}/cancel`).then(() => undefined, (error) => setTrouble(messageOf(error)));
  return <section aria-label={title}>
    <h2>{title}</h2>
    {trouble !== '' && <p class="error" role="alert">{trouble}</p>}
    {isCut && <p>What it printed first is not shown; <code>fettle attach {run}</code> has all.</p>}
    <pre class="log" role="log" tabIndex={0} aria-label={`Output of run ${run}`}>{text}</pre>
    {end === undefined ? <div class="buttons"><p role="status">Run {run} is under way.</p><button type="button" onClick={cancel}>Cancel run {run}</button></div>
      : <p role="status" class={end.code === 0 ? undefined : 'error'}>{end.code === null ? `Run ${run} was killed.` : `Run ${run} has ended with exit code ${end.code}.`}</p>}
  </section>;
}

// A button that asks first, in the page.
export function Asking({ label, question, disabled, act }: { label: string; question: string; disabled?: boolean; act: () => void }) {
  const [asks, setAsks] = useState(false);
  const first = useRef<HTMLButtonElement>(null), yes = useRef<HTMLButtonElement>(null), asked = useRef(false);
  useLayoutEffect(() => {
    if (asks) yes.current?.focus();
    else if (asked.current) first.current?.focus();
    asked.current = asks;
  }, [asks]);
  if (!asks) return <button type="button" ref={first} disabled={disabled} onClick={() => setAsks(true)}>{label}</button>;
  return <div role="group" aria-label={question} class="asks" onKeyDown={(key) => { if (key.key === 'Escape') setAsks(false); }}>
    <p>{question}</p>
    <div class="buttons">
      <button type="button" ref={yes} onClick={() => { setAsks(false); act(); }}>Yes, {label.charAt(0).toLowerCase() + label.slice(1)}</button>
      <button type="button" onClick={() => setAsks(false)}>No</button>
    </div>
  </div>;
}

// The words of the server when a command ended otherwise than well.
export function troubleOf(end: CommandEnd): string {
  if (end.code === 0 || end.code === null) return '';
  const told = (end.document as { error?: { message?: string } } | undefined)?.error?.message;
  return told ?? (end.errors.trim() || end.output.trim() || `It ended with exit code ${end.code}.`);
}

// As a shell takes it.
export const commandOf = (words: string[]) => ['fettle', ...words].map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
