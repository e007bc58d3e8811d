// What the server tells: documents on request, and events as they happen. The page decides nothing and keeps nothing.
import { useEffect, useState } from 'preact/hooks';
import { terminalKey } from './key';

export interface Environment { name: string; uuid: string; status: string; created: string }
export interface Service { name: string; uuid: string; status: string; image: string; ip_address: string; container: string; ports: Record<string, { url?: string; number?: number; transport?: string }> }
export interface Artifact { name: string; uuid: string; digest: string }
export interface Inspected extends Environment {
  versions: number; version: number | null; released: number | null; resources: number;
  orphans: { key: string }[]; services: Service[]; files: Artifact[];
}
export interface GraphNode { id: string; kind: string; label: string; state: string; origin: string | null; members: number; group: boolean; rank: number; row: number }
export interface GraphEdge { from: number; to: number; bond: string }
export interface Graph { resources: number; left_out: number; nodes: GraphNode[]; edges: GraphEdge[] }
export interface ResourceRecord {
  key: string; origin: string | null; attributes: unknown; outputs: unknown; needs: { key: string; bond: string }[];
  wanted_by: string[]; incarnation: number; done: boolean; attempt: string | null;
}
export interface Resource { record: ResourceRecord; why: { because: string[] } }
export interface Run { run: number; began: string; ended: string | null; what: string; outcome: string | null; counts: Record<string, number> | null }
export interface Act { key: string; verb: string; began: string; ended: string; outcome: string; text: string }
export interface RunPast extends Run { under_way: boolean; acts: Act[] }
export interface FettleEvent { sequence: number; time: string; environment: string; type: string; key: string | null; verb: string | null; text: string }
export interface EventPage { events: FettleEvent[]; next: number | null; newest: number }
export interface LogLine { service: string; stream: string; time: string; text: string }
export interface Version { version: number; created: string; released: string | null; partial: boolean }
export interface Difference { id: string; change: string; set: string | null; set_before: string | null; fields: { field: string; before?: unknown; after?: unknown }[] }
export interface Attempt { key: string; origin: string | null; state: string; verb: string; error: string | null; started: string; calls: number | null; spent: number | null; pause: number | null }
export interface FleetObject { kind: string; metadata: { name: string; namespace?: string }; spec?: { nodeName?: string; replicas?: number; updateStrategy?: { maxUnavailable?: number | string; rollingUpdate?: { maxUnavailable?: number | string } } }; status?: Record<string, unknown> }
export interface Fleet { objects: FleetObject[]; pods: FleetObject[]; images: { node: string; image: string; status: string; bytes: number; owner: string; message: string }[] }
export interface RolloutAct { verb: string; began: string; ended: string | null; outcome: string; why: string; error: string | null }
export interface RolloutRow { key: string; node: string; name?: string; image?: string; bytes?: number | null; was_there: boolean; gone: string | null; acts: RolloutAct[] }
export interface Rollout { from: string; to: string; under_way: boolean; next: number | null; pods: RolloutRow[]; pulls: RolloutRow[] }
export interface ArchiveEntry { path: string; size: number; directory: boolean }

export interface ArchiveFile extends ArchiveEntry { text: string | null; base64: string | null }
export interface Node { name: string; engine: string; ready: boolean; schedulable: boolean; pods: number; pulls: number; labels: Record<string, string>; why?: string }

export interface FieldChange { field: string; before: unknown; after: unknown }
export interface PlanStep { verb: string; key: string; maybe: boolean; not_repeated: boolean; why: string; origin: string | null; fields: FieldChange[] }
export interface StatePlan {
  steps: PlanStep[]; at_work: string | null; leftover_keys: string[]; shared: { key: string; why: string }[]; warnings: string[]; converged: boolean;
  kept: object | null;
}
export interface FleetPlan {
  objects: { object: string; status: string; takenBack: FieldChange[] }[];
  pods: { owner: string; pod: string; node: string; action: string; why: string; batch: number | null }[];
  pulls: { owner: string; image: string; parallelism: number; nodes: string[] }[];
  warnings: string[]; converged: boolean;
}
export interface TestedState { __id__: string; name: string; result: boolean | null; comment: unknown; changes: Record<string, unknown>; __run_num: number }
export type MadePlan = { command: string; carried_out_by: string[]; reads_files: boolean } & (
  { source: 'package' | 'model'; plan: StatePlan } | { source: 'manifests'; plan: FleetPlan } | { source: 'states'; plan: Record<string, TestedState> });
export interface KeptPlan { file: string; environment: string; version: number | null; package: string | null; written: string; due: number }
export interface KeptSteps extends KeptPlan { steps: { verb: string; key: string }[] }

// Who is signed in at the page of a server; no name: it is one's own page.
export interface Session { name: string | null; right: string | null; environments?: string[]; sign_out?: string }
export interface Schedule { name: string; command: string | null; token: string | null; plan: number | null; approver: string | null; commit: string | null; why_not: string | null }
export interface CommandEnd { run: number | null; status: string; code: number | null; output: string; errors: string; document?: unknown }
export interface OutputPart { run: number; status: string; code: number | null; next: number; pieces: { stream: string; text: string }[] }

// `status`: of HTTP; 0 if there was no answer.
export class ServerError extends Error {
  constructor(message: string, readonly status = 0) { super(message); }
}

export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`.${path}`, init);  // behind the path of a proxy, too
  } catch {
    throw new ServerError('The server has ended. Start `fettle web` again.');
  }
  // At a server of commands, a session ends.
  const signIn = response.headers.get('Fettle-Sign-In');
  if (signIn !== null) location.assign(signIn);
  const document = await response.json().catch(() => null);
  if (!response.ok) {
    // A text that somebody wrote has a place.
    const { file, line, column, message } = document?.error ?? {};
    const where = [file, line, column].filter((part) => part !== null && part !== undefined && part !== '').join(':');
    throw new ServerError(message === undefined ? `The server answered ${response.status}.` : where === '' ? message : `${where}: ${message}`, response.status);
  }
  return document as T;
}

// What acts needs the key of this browser beside the cookie.
export const post = <T>(path: string, body?: object) => ask<T>(path, {
  method: 'POST', headers: { 'Fettle-Key': terminalKey(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
  body: body === undefined ? undefined : JSON.stringify(body),
});

let session: Promise<Session> | undefined;

// Undefined: it is not known yet.
export function useSession(): Session | undefined {
  const [known, set] = useState<Session>();
  useEffect(() => {
    session ??= ask<Session>('/api/session');
    session.then(set, () => { session = undefined; });
  }, []);
  return known;
}
export const mayAct = (who: Session) => who.right === 'act' || who.right === 'admin';

export const apiOf = (environment: string, rest = '') => `/api/environments/${encodeURIComponent(environment)}${rest}`;

// Events reach every view over one stream; while it is open, the server knows that somebody looks.
type Listener = (event: FettleEvent) => void;
const listeners = new Set<Listener>();
// `trouble`: why there is no stream; empty: there is one.
const connection = { trouble: '', tell: new Set<(trouble: string) => void>() };

function setTrouble(trouble: string) {
  if (connection.trouble === trouble) return;
  connection.trouble = trouble;
  connection.tell.forEach((tell) => tell(trouble));
}

const pauseAfterRefusal = 3000;
let lastEvent: number | undefined;

// The browser goes on by itself after a connection that was cut off, but not after an answer that refuses, and it does not
// say why: a server that was started again does not know this browser until its address was opened.
export async function openStream() {
  const later = () => void window.setTimeout(openStream, pauseAfterRefusal);
  try {
    const { newest } = await ask<EventPage>('/api/events');
    lastEvent = Math.min(lastEvent ?? newest, newest);
  } catch (refused) {
    setTrouble((refused as Error).message);
    later();
    return;
  }
  const stream = new EventSource(`./api/stream?after=${lastEvent}`);
  stream.onopen = () => setTrouble('');
  stream.onerror = () => {
    setTrouble('The server does not answer: it has ended, or is starting again.');
    if (stream.readyState === EventSource.CLOSED) later();
  };
  stream.onmessage = (message) => {
    lastEvent = Number(message.lastEventId);
    const event = JSON.parse(message.data) as FettleEvent;
    listeners.forEach((listener) => listener(event));
  };
}

export function useTrouble(): string {
  const [trouble, set] = useState(connection.trouble);
  useEffect(() => {
    connection.tell.add(set);
    return () => void connection.tell.delete(set);
  }, []);
  return trouble;
}

export function useEvents(listener: Listener, inputs: unknown[]) {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, inputs);
}

export interface Answer<T> { value?: T; error?: string; again: () => void }

// The document at a path, asked for again soon after something happened in its environment, unless it takes long to make;
// and after an error when the server answers again. What is not there any more is not shown.
export function useDocument<T>(path: string | null, environment?: string, follows = true): Answer<T> {
  const [state, set] = useState<{ path: string | null; value?: T; error?: string }>({ path });
  const [turn, setTurn] = useState(0);
  const trouble = useTrouble();
  useEffect(() => { if (trouble === '' && state.error !== undefined) setTurn((now) => now + 1); }, [trouble]);
  useEffect(() => {
    if (path === null) return;
    let isWanted = true;
    ask<T>(path).then(
      (value) => isWanted && set({ path, value }),
      (error: ServerError) => isWanted && set((before) => ({ path, value: before.path === path && error.status !== 404 ? before.value : undefined, error: error.message })),
    );
    return () => { isWanted = false; };
  }, [path, turn]);
  useEffect(() => {
    if (!follows) return;
    let timer: number | undefined;
    const listener = (event: FettleEvent) => {
      if (environment !== undefined && event.environment !== environment) return;
      timer ??= window.setTimeout(() => { timer = undefined; setTurn((now) => now + 1); }, 300);
    };
    listeners.add(listener);
    return () => { listeners.delete(listener); window.clearTimeout(timer); };
  }, [environment, follows]);
  const again = () => setTurn((now) => now + 1);
  return state.path === path ? { value: state.value, error: state.error, again } : { again };
}
