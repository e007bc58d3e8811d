// What needs what. The server gives each node a column and a row; here they are drawn, moved and chosen. The list beside
// the picture has the same nodes, for keyboards and screen readers.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { apiOf, type Graph, type GraphNode, type Resource, useDocument } from './api';
import { jsonOf, place, Shown, State, Title } from './parts';

const width = 190, height = 34, columnStep = 250, rowStep = 46, readable = 0.7;

interface Box { x: number; y: number }

// Columns stand with their middles at one height.
function boxesOf(graph: Graph): Box[] {
  const counts = new Map<number, number>();
  graph.nodes.forEach((node) => counts.set(node.rank, Math.max(counts.get(node.rank) ?? 0, node.row + 1)));
  return graph.nodes.map((node) => ({ x: node.rank * columnStep, y: (node.row - (counts.get(node.rank) ?? 0) / 2) * rowStep }));
}

interface Look { x: number; y: number; scale: number }

function draw(canvas: HTMLCanvasElement, graph: Graph, boxes: Box[], look: Look, chosen: number) {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const style = getComputedStyle(canvas), colour = (name: string) => style.getPropertyValue(name).trim();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  context.setTransform(ratio * look.scale, 0, 0, ratio * look.scale, ratio * look.x, ratio * look.y);
  // What is out of sight is not drawn.
  const left = -look.x / look.scale, top = -look.y / look.scale, right = left + w / look.scale, bottom = top + h / look.scale;
  const line = colour('--line'), accent = colour('--accent');
  for (const edge of graph.edges) {
    const to = boxes[edge.from], from = boxes[edge.to];
    const x1 = from.x + width, y1 = from.y + height / 2, x2 = to.x, y2 = to.y + height / 2;
    if (Math.max(x1, x2) < left || Math.min(x1, x2) > right || Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
    const isChosen = edge.from === chosen || edge.to === chosen;
    context.strokeStyle = isChosen ? accent : line;
    context.lineWidth = isChosen ? 2 : 1;
    context.setLineDash(edge.bond === 'order' ? [4, 3] : []);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + 40, y1, x2 - 40, y2, x2, y2);
    context.stroke();
  }
  context.setLineDash([]);
  context.font = '13px system-ui, sans-serif';
  context.textBaseline = 'middle';
  graph.nodes.forEach((node, i) => {
    const { x, y } = boxes[i];
    if (x > right || x + width < left || y > bottom || y + height < top) return;
    context.fillStyle = colour('--box');
    context.strokeStyle = i === chosen ? accent : line;
    context.lineWidth = i === chosen ? 3 : 1;
    context.beginPath();
    context.rect(x, y, width, height);
    if (node.group) context.rect(x + 4, y - 4, width, height);
    context.fill();
    context.stroke();
    context.fillStyle = colour(`--${stateColour(node.state)}`);
    context.fillRect(x, y, 6, height);
    if (look.scale < 0.35) return;
    context.fillStyle = colour('--text');
    context.fillText(fitted(context, node.label, width - 20), x + 13, y + height / 2);
  });
}

function stateColour(state: string) {
  return state === 'done' ? 'good' : state === 'failed' || state === 'interrupted' ? 'bad' : 'busy';
}

function fitted(context: CanvasRenderingContext2D, text: string, most: number) {
  if (context.measureText(text).width <= most) return text;
  let end = Math.min(text.length, 40);
  while (end > 1 && context.measureText(text.slice(0, end) + '…').width > most) --end;
  return text.slice(0, end) + '…';
}

// All of it, or as much as can be read, from the first column on.
function whole(canvas: HTMLCanvasElement, boxes: Box[], least = 0): Look {
  if (boxes.length === 0) return { x: 0, y: 0, scale: 1 };
  const left = Math.min(...boxes.map((box) => box.x)) - 20, right = Math.max(...boxes.map((box) => box.x)) + width + 20;
  const top = Math.min(...boxes.map((box) => box.y)) - 20, bottom = Math.max(...boxes.map((box) => box.y)) + height + 20;
  const w = right - left, h = bottom - top;
  const scale = Math.max(least, Math.min(1, canvas.clientWidth / w, canvas.clientHeight / h));
  return { x: Math.max(0, (canvas.clientWidth - w * scale) / 2) - left * scale, y: (canvas.clientHeight - h * scale) / 2 - top * scale, scale };
}

function Picture({ graph, chosen, choose }: { graph: Graph; chosen: number; choose: (node: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const boxes = useMemo(() => boxesOf(graph), [graph]);
  const look = useRef<Look | null>(null);
  const shape = `${graph.nodes.length} ${graph.edges.length}`;
  const paint = () => {
    if (canvas.current === null) return;
    look.current ??= whole(canvas.current, boxes, readable);
    draw(canvas.current, graph, boxes, look.current, chosen);
  };
  const zoom = (factor: number, x = (canvas.current?.clientWidth ?? 0) / 2, y = (canvas.current?.clientHeight ?? 0) / 2) => {
    const now = look.current;
    if (now === null) return;
    const scale = Math.min(3, Math.max(0.02, now.scale * factor)), by = scale / now.scale;
    look.current = { scale, x: x - (x - now.x) * by, y: y - (y - now.y) * by };
    paint();
  };
  useEffect(() => { look.current = null; paint(); centre(); }, [shape]);
  useEffect(paint, [graph, chosen]);
  // A node that was chosen in the list comes into sight.
  const centre = () => {
    const now = look.current, element = canvas.current, box = boxes[chosen];
    if (now === null || element === null || box === undefined) return;
    const x = box.x * now.scale + now.x, y = box.y * now.scale + now.y;
    if (x >= 0 && y >= 0 && x + width * now.scale <= element.clientWidth && y + height * now.scale <= element.clientHeight) return;
    look.current = { ...now, x: element.clientWidth / 2 - (box.x + width / 2) * now.scale, y: element.clientHeight / 2 - (box.y + height / 2) * now.scale };
    paint();
  };
  useEffect(centre, [chosen]);
  useEffect(() => {
    const element = canvas.current!;
    const sizes = new ResizeObserver(paint), dark = matchMedia('(prefers-color-scheme: dark)');
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    };
    sizes.observe(element);
    dark.addEventListener('change', paint);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      sizes.disconnect();
      dark.removeEventListener('change', paint);
      element.removeEventListener('wheel', wheel);
    };
  });
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const nodeAt = (x: number, y: number) => {
    const now = look.current!;
    const gx = (x - now.x) / now.scale, gy = (y - now.y) / now.scale;
    return boxes.findIndex((box) => gx >= box.x && gx <= box.x + width && gy >= box.y && gy <= box.y + height);
  };
  return <div class="picture">
    <canvas ref={canvas} aria-hidden="true"
      onPointerDown={(event) => { drag.current = { x: event.offsetX, y: event.offsetY, moved: false }; event.currentTarget.setPointerCapture(event.pointerId); }}
      onPointerMove={(event) => {
        const from = drag.current, now = look.current;
        if (from === null || now === null) return;
        const x = event.offsetX - from.x, y = event.offsetY - from.y;
        if (!from.moved && Math.abs(x) + Math.abs(y) < 4) return;
        look.current = { ...now, x: now.x + x, y: now.y + y };
        drag.current = { x: event.offsetX, y: event.offsetY, moved: true };
        paint();
      }}
      onPointerUp={(event) => {
        const found = drag.current?.moved === false ? nodeAt(event.offsetX, event.offsetY) : -1;
        drag.current = null;
        if (found >= 0) choose(found);
      }} />
    <div class="buttons">
      <button type="button" onClick={() => zoom(1.25)}>Zoom in</button>
      <button type="button" onClick={() => zoom(0.8)}>Zoom out</button>
      <button type="button" onClick={() => { if (canvas.current !== null) look.current = whole(canvas.current, boxes); paint(); }}>Show all</button>
    </div>
  </div>;
}

function List({ graph, chosen, choose }: { graph: Graph; chosen: number; choose: (node: number) => void }) {
  const order = useMemo(() => graph.nodes.map((_, i) => i).sort((a, b) => {
    const one = graph.nodes[a], other = graph.nodes[b];
    return one.rank - other.rank || one.row - other.row;
  }), [graph]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => { list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }); }, [chosen]);
  const onKey = (event: KeyboardEvent) => {
    const at = order.indexOf(chosen);
    const needed = graph.edges.find((edge) => edge.from === chosen)?.to, user = graph.edges.find((edge) => edge.to === chosen)?.from;
    const to = event.key === 'ArrowDown' ? order[Math.min(order.length - 1, at + 1)]
      : event.key === 'ArrowUp' ? order[Math.max(0, at - 1)]
      : event.key === 'Home' ? order[0] : event.key === 'End' ? order[order.length - 1]
      : event.key === 'ArrowLeft' ? needed : event.key === 'ArrowRight' ? user : undefined;
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  };
  return <ul ref={list} role="listbox" aria-label="Resources; left and right go to what is needed and what needs it" tabIndex={0}
    aria-activedescendant={chosen >= 0 ? `node-${chosen}` : undefined} onKeyDown={onKey}>
    {order.map((i) => <li key={graph.nodes[i].id} id={`node-${i}`} role="option" aria-selected={i === chosen} onClick={() => choose(i)}>
      {graph.nodes[i].label} <State name={graph.nodes[i].state} />
    </li>)}
  </ul>;
}

function Details({ environment, node }: { environment: string; node: GraphNode }) {
  const answer = useDocument<Resource>(apiOf(environment, `/resource?key=${encodeURIComponent(node.id)}`), environment);
  return <Shown answer={answer}>{({ record, why }) => <>
    <dl>
      <dt>State</dt><dd><State name={node.state} /></dd>
      <dt>Declared at</dt><dd class="code">{record.origin ?? 'unknown'}</dd>
      {record.attempt !== null && <><dt>Attempt</dt><dd>{record.attempt}</dd></>}
    </dl>
    <h3>Why</h3>
    <ol class="why">{why.because.map((line, i) => <li key={i}>{line}</li>)}</ol>
    {record.needs.length > 0 && <><h3>Needs</h3><ul>{record.needs.map((need) =>
      <li key={need.key}><a href={place('env', environment, 'graph', 'node', need.key)}>{need.key}</a></li>)}</ul></>}
    <h3>Attributes</h3>
    <pre tabIndex={0} aria-label="Attributes">{jsonOf(record.attributes)}</pre>
    <h3>Outputs</h3>
    <pre tabIndex={0} aria-label="Outputs">{jsonOf(record.outputs)}</pre>
  </>}</Shown>;
}

// `graph`, `graph/node/KEY`, `graph/group/GROUP`, `graph/group/GROUP/KEY`
export function GraphView({ environment, rest }: { environment: string; rest: string[] }) {
  const group = rest[0] === 'group' ? rest[1] ?? '' : '';
  const key = rest[0] === 'node' ? rest[1] : rest[2];
  const answer = useDocument<Graph>(apiOf(environment, `/graph${group === '' ? '' : `?group=${encodeURIComponent(group)}`}`), environment);
  const [query, setQuery] = useState('');
  const base = group === '' ? [] : ['group', group];
  return <>
    <Title>{group === '' ? `Graph of ${environment}` : `Group ${group} of ${environment}`}</Title>
    <Shown answer={answer}>{(graph) => {
      const chosen = graph.nodes.findIndex((node) => node.id === key);
      const choose = (i: number) => {
        const id = graph.nodes[i].id;
        location.replace(place('env', environment, 'graph', ...(group === '' ? ['node', id] : [...base, id])));
      };
      const node: GraphNode | undefined = graph.nodes[chosen];
      const found = query === '' ? [] : graph.nodes.flatMap((one, i) => one.label.toLowerCase().includes(query.toLowerCase()) ? [i] : []);
      return <>
        <p role="status">{graph.resources} resources{graph.nodes.some((one) => one.group) && ', drawn in groups'}
          {graph.left_out > 0 && `; ${graph.left_out} of this group are not drawn`}.
          {group !== '' && <> <a href={place('env', environment, 'graph')}>All groups</a></>}</p>
        <form role="search" onSubmit={(event) => { event.preventDefault(); if (found.length > 0) choose(found[(found.indexOf(chosen) + 1) % found.length]); }}>
          <label>Find <input type="search" value={query} onInput={(event) => setQuery(event.currentTarget.value)} /></label>
          <button type="submit">Next</button> {query !== '' && <span role="status">{found.length} found</span>}
        </form>
        {graph.nodes.length === 0 ? <p>There are no resources.</p> : <div class="graph">
          <Picture graph={graph} chosen={chosen} choose={choose} />
          <section class="panel" aria-label="Resources">
            <List graph={graph} chosen={chosen} choose={choose} />
            {node !== undefined && <section class="details" aria-label="Chosen">
              <h2>{node.label}</h2>
              {node.group ? <p>{node.members} resources, the most urgent: <State name={node.state} />.{' '}
                <a href={place('env', environment, 'graph', 'group', node.id)}>Open the group</a></p>
                : <Details environment={environment} node={node} />}
            </section>}
          </section>
        </div>}
      </>;
    }}</Shown>
  </>;
}
