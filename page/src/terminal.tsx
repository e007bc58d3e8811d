// A shell in a service. xterm.js is another file of the page, which is loaded with the first shell.
import { useEffect, useRef, useState } from 'preact/hooks';
import { apiOf, ask, type Inspected, type ServerError, useDocument } from './api';
import { ServiceNames, Shown, Title } from './parts';

export function TerminalView({ environment, rest }: { environment: string; rest: string[] }) {
  const answer = useDocument<Inspected>(apiOf(environment), environment);
  const service = rest[0];
  return <>
    <Title>{service === undefined ? `Terminals of ${environment}` : `Terminal in ${service}`}</Title>
    <Shown answer={answer}>{(view) => <ServiceNames environment={environment} view="terminal" services={view.services} chosen={service} />}</Shown>
    {service === undefined ? <p>A terminal is a shell in a service, as <code>fettle service shell</code> opens one.</p>
      : <Terminal key={service} environment={environment} service={service} />}
  </>;
}

function Terminal({ environment, service }: { environment: string; service: string }) {
  const [turn, setTurn] = useState(0), [isReader, setReader] = useState(false);
  const [state, setState] = useState('Loading…'), [hasEnded, setEnded] = useState(false);
  const box = useRef<HTMLDivElement>(null), again = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    let isWanted = true, close = () => undefined as void;
    setState('Loading…');
    setEnded(false);
    const ended = (text: string) => {
      if (!isWanted) return;
      setState(text);
      setEnded(true);
    };
    import('./shell').then(({ openShell }) => {
      if (isWanted && box.current !== null)
        close = openShell(box.current, apiOf(environment, `/services/${encodeURIComponent(service)}/terminal`), {
          isReader, opened: () => isWanted && setState('Open.'), ended, leave: () => again.current?.focus(),
          // The browser does not say why it was refused. The server does, and if it has no reason but the WebSocket (426), it was the key.
          refused: (path) => ask(path).then(() => undefined, (refused: ServerError) => ended(refused.status !== 426 ? refused.message
            : 'The server did not open it: this browser may have no key for terminals. Start `fettle web` again, and open the address that it prints.')),
        });
    }, () => ended('The server has ended. Start `fettle web` again.'));
    return () => { isWanted = false; close(); };
  }, [environment, service, turn, isReader]);
  return <>
    <p role="status">{state}</p>
    <div class="shell" ref={box} />
    <div class="row">
      <button type="button" ref={again} onClick={() => setTurn((now) => now + 1)}>{hasEnded ? 'Open another' : 'End it and open another'}</button>
      <label><input type="checkbox" checked={isReader} onChange={(change) => setReader(change.currentTarget.checked)} /> For a screen reader (opens another)</label>
      <span><kbd>Shift</kbd>+<kbd>Esc</kbd> leaves the terminal.</span>
    </div>
  </>;
}
