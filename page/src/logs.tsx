import { useEffect, useRef, useState } from 'preact/hooks';
import { apiOf, ask, type Inspected, type LogLine, useDocument } from './api';
import { ServiceNames, Shown, Title } from './parts';

export function Logs({ environment, rest }: { environment: string; rest: string[] }) {
  const answer = useDocument<Inspected>(apiOf(environment), environment);
  const service = rest[0];
  return <>
    <Title>{service === undefined ? `Logs of ${environment}` : `Logs of ${service}`}</Title>
    <Shown answer={answer}>{(view) => <ServiceNames environment={environment} view="logs" services={view.services} chosen={service} />}</Shown>
    {service !== undefined && <Lines key={service} environment={environment} service={service} />}
  </>;
}

// A line with its place in everything that was shown, so that old ones go without all others being drawn again.
interface ShownLine { number: number; line: LogLine }

const mostShown = 5000;

// Lines come over a stream of their own. It is closed while nobody sees them, since a browser has six connections to a
// server, and goes on after the last line that came: nothing is lost, and nothing comes twice.
function useLog(environment: string, service: string, tail: number, follows: boolean) {
  const [lines, setLines] = useState<ShownLine[]>([]), [state, setState] = useState('loading'), [error, setError] = useState('');
  const position = useRef(''), number = useRef(0);
  const path = apiOf(environment, `/services/${encodeURIComponent(service)}/logs/stream`);
  useEffect(() => {
    if (!follows) return;
    let stream: EventSource | undefined, retry: number | undefined, drawing: number | undefined;
    let fresh: ShownLine[] = [];
    const show = () => {
      drawing = undefined;
      const news = fresh;
      fresh = [];
      setState('open');
      setLines((now) => [...now, ...news].slice(-mostShown));
    };
    const soon = () => { drawing ??= window.setTimeout(show, 100); };
    const close = () => { stream?.close(); stream = undefined; window.clearTimeout(retry); retry = undefined; };
    const later = () => { close(); retry = window.setTimeout(open, 5000); };
    const open = () => {
      close();
      if (document.hidden) return;
      stream = new EventSource(`.${path}?tail=${tail}${position.current === '' ? '' : `&after=${position.current}`}`);
      stream.onopen = () => { setError(''); soon(); };
      stream.onmessage = (message) => {
        position.current = message.lastEventId;
        fresh.push({ number: ++number.current, line: JSON.parse(message.data) as LogLine });
        soon();
      };
      // The container has ended; another one may begin where it was.
      stream.addEventListener('ended', (message) => {
        setError((JSON.parse((message as MessageEvent).data) as { error: string | null }).error ?? '');
        soon();
        later();
      });
      // What is refused is not asked for again by the browser, and it does not say why.
      stream.onerror = () => {
        if (stream?.readyState !== EventSource.CLOSED) return;
        later();
        ask(`${path.replace(/\/stream$/, '')}?tail=1`).then(() => undefined, (refused: Error) => setError(refused.message));
      };
    };
    const seen = () => document.hidden ? close() : stream === undefined && open();
    open();
    document.addEventListener('visibilitychange', seen);
    return () => {
      document.removeEventListener('visibilitychange', seen);
      close();
      window.clearTimeout(drawing);
      if (fresh.length > 0) show();
    };
  }, [path, tail, follows]);
  return { lines, isOpen: state === 'open', error };
}

function Lines({ environment, service }: { environment: string; service: string }) {
  const [tail, setTail] = useState(200), [follows, setFollows] = useState(true);
  return <>
    <p class="row">
      <label>Begin with the last <select value={tail} onChange={(change) => setTail(Number(change.currentTarget.value))}>
        {[200, 1000, 5000].map((count) => <option key={count} value={count}>{count}</option>)}</select> lines</label>
      <label><input type="checkbox" checked={follows} onChange={(change) => setFollows(change.currentTarget.checked)} /> Follow</label>
    </p>
    <Text key={tail} environment={environment} service={service} tail={tail} follows={follows} />
  </>;
}

function Text({ environment, service, tail, follows }: { environment: string; service: string; tail: number; follows: boolean }) {
  const { lines, isOpen, error } = useLog(environment, service, tail, follows);
  const box = useRef<HTMLPreElement>(null), isAtEnd = useRef(true);
  // Whoever has scrolled back reads there.
  useEffect(() => { if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight; }, [lines]);
  const scrolled = (element: HTMLPreElement) => { isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 4; };
  return <>
    {error !== '' && <p class="error" role="alert">{error}</p>}
    {lines.length === 0 ? error === '' && <p role="status">{isOpen ? 'It has written nothing.' : 'Loading…'}</p>
      : <pre ref={box} class="log" tabIndex={0} aria-label={`Log of ${service}`} onScroll={(scroll) => scrolled(scroll.currentTarget)}>{lines.map(({ number, line }) =>
        <span key={number} class={line.stream}><span class="time">{line.time.slice(11, 23)}</span> {line.text}{'\n'}</span>)}</pre>}
  </>;
}
