import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { openStream, useSession, useTrouble } from './api';
import { Approvals } from './approvals';
import { Environments } from './environments';
import { EventsView } from './events';
import { Fleet } from './fleet';
import { GraphView } from './graph';
import { keepKey } from './key';
import { Logs } from './logs';
import { Nodes } from './nodes';
import { Overview, Artifact } from './overview';
import { place, Title } from './parts';
import { Pending } from './pending';
import { KeptPlans, Plan } from './plan';
import { Runs } from './runs';
import { TerminalView } from './terminal';
import { Versions } from './versions';
import './style.css';

// The views of an environment: a view is the last part of an address, so that each can be sent to somebody.
const views: Record<string, { title: string; show: (props: { environment: string; rest: string[] }) => preact.JSX.Element }> = {
  overview: { title: 'Overview', show: Overview },
  graph: { title: 'Graph', show: GraphView },
  runs: { title: 'Runs', show: Runs },
  plan: { title: 'Plan', show: Plan },
  events: { title: 'Events', show: EventsView },
  logs: { title: 'Logs', show: Logs },
  terminal: { title: 'Terminal', show: TerminalView },
  pending: { title: 'Pending', show: Pending },
  versions: { title: 'Versions', show: Versions },
  fleet: { title: 'Fleet', show: Fleet },
};

const parts = () => location.hash.replace(/^#\/?/, '').split('/').filter((part) => part !== '').map((part) => {
  try { return decodeURIComponent(part); } catch { return part; }
});

const Nothing = () => <>
  <Title>Nothing is here</Title>
  <p>No view has this address. The <a href="#/">environments</a> lead to all of them.</p>
</>;

// The answer takes the cookie and the key away.
async function signOut(key = '') {
  await fetch('./sign-out', { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: `key=${key}` }).catch(() => undefined);
  location.assign('./sign-in');
}

function Page() {
  const [address, setAddress] = useState(parts());
  const trouble = useTrouble(), session = useSession();
  useEffect(() => {
    const follow = () => setAddress(parts());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const [room, environment, name = 'overview', ...rest] = address;
  const isEnvironment = room === 'env' && environment !== undefined;
  const View = isEnvironment ? views[name]?.show : undefined;
  return <>
    <a class="skip" href="#main" onClick={(click) => { click.preventDefault(); document.querySelector('h1')?.focus(); }}>Skip to the view</a>
    <header>
      <nav aria-label="Everything">
        <a href="#/" aria-current={address.length === 0 ? 'page' : undefined}>Environments</a>
        <a href="#/events" aria-current={room === 'events' ? 'page' : undefined}>All events</a>
        <a href="#/nodes" aria-current={room === 'nodes' ? 'page' : undefined}>Nodes</a>
        <a href="#/plans" aria-current={room === 'plans' ? 'page' : undefined}>Kept plans</a>
        {typeof session?.name === 'string' && <a href="#/approvals" aria-current={room === 'approvals' ? 'page' : undefined}>Approvals</a>}
      </nav>
      {typeof session?.name === 'string' && <p class="who">Signed in as {session.name} (right {session.right}). <button type="button" onClick={() => void signOut(session.sign_out)}>Sign out</button></p>}
      {trouble !== '' && <p class="error" role="alert">{trouble}</p>}
      {isEnvironment && <nav aria-label={`Environment ${environment}`}>
        {Object.entries(views).map(([key, view]) =>
          <a key={key} href={place('env', environment, key)} aria-current={key === name ? 'page' : undefined}>{view.title}</a>)}
      </nav>}
    </header>
    <main id="main">
      {View !== undefined ? <View key={`${environment} ${name}`} environment={environment} rest={rest} />
        : isEnvironment && name === 'artifact' && rest[0] !== undefined ? <Artifact environment={environment} name={rest[0]} file={rest[1]} />
        : room === 'events' ? <EventsView environment="" rest={[]} />
        : room === 'nodes' ? <Nodes />
        : room === 'plans' ? <KeptPlans key={environment} file={environment} />
        : room === 'approvals' ? <Approvals />
        : address.length === 0 ? <Environments />
        : <Nothing />}
    </main>
  </>;
}

keepKey();
const root = document.getElementById('page')!;
root.replaceChildren();  // what is there before the script is
render(<Page />, root);
void openStream();
