import { useEffect, useRef, useState } from 'preact/hooks';
import { apiOf, type Inspected, type LogLine, useDocument } from './api';
import { place, Shown, Title } from './parts';

export function Logs({ environment, rest }: { environment: string; rest: string[] }) {
  const answer = useDocument<Inspected>(apiOf(environment), environment);
  const service = rest[0];
  return <>
    <Title>{service === undefined ? `Logs of ${environment}` : `Logs of ${service}`}</Title>
    <Shown answer={answer}>{(view) => view.services.length === 0 ? <p>There are no services.</p>
      : <nav aria-label="Services"><ul class="row">{view.services.map((one) => <li key={one.name}>
        <a href={place('env', environment, 'logs', one.name)} aria-current={one.name === service ? 'page' : undefined}>{one.name}</a></li>)}</ul></nav>}</Shown>
    {service !== undefined && <Lines key={service} environment={environment} service={service} />}
  </>;
}

function Lines({ environment, service }: { environment: string; service: string }) {
  const [tail, setTail] = useState(200), [follows, setFollows] = useState(true);
  const answer = useDocument<{ lines: LogLine[] }>(apiOf(environment, `/services/${encodeURIComponent(service)}/logs?tail=${tail}`), environment);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!follows) return;
    const timer = window.setInterval(answer.again, 2000);
    return () => window.clearInterval(timer);
  }, [follows]);
  useEffect(() => { if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight; }, [answer.value]);
  return <>
    <p class="row">
      <label>Lines <select value={tail} onChange={(change) => setTail(Number(change.currentTarget.value))}>
        {[200, 1000, 5000].map((count) => <option key={count} value={count}>{count}</option>)}</select></label>
      <label><input type="checkbox" checked={follows} onChange={(change) => setFollows(change.currentTarget.checked)} /> Follow</label>
    </p>
    <Shown answer={answer}>{({ lines }) => lines.length === 0 ? <p>It has written nothing.</p>
      : <pre ref={box} class="log" tabIndex={0} aria-label={`Log of ${service}`}>{lines.map((line, i) =>
        <span key={i} class={line.stream}><span class="time">{line.time.slice(11, 23)}</span> {line.text}{'\n'}</span>)}</pre>}</Shown>
  </>;
}
