// Pieces of views.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from './api';

export const place = (...parts: string[]) => '#/' + parts.map(encodeURIComponent).join('/');

// The title of a view gets the focus in the moment in which the view opens, so that a screen reader says where one is, and a key that is
// pressed at once does not go to the view before.
export function Title({ children }: { children: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${children} · fettle`;
    title.current?.focus();
  }, [children]);
  return <h1 ref={title} tabIndex={-1}>{children}</h1>;
}

export function State({ name }: { name: string }) {
  return <span class={`state state-${name.replaceAll(' ', '-')}`}>{name}</span>;
}

export function Shown<T>({ answer, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }) {
  return <>
    {answer.error !== undefined && <p class="error" role="alert">{answer.error}</p>}
    {answer.value !== undefined ? children(answer.value) : answer.error === undefined && <p role="status">Loading…</p>}
  </>;
}

export const text = (value: unknown) => value === undefined || value === null ? '' : String(value);
export const nodeOf = (node: unknown) => text(node) || 'this machine';

// Time goes on while something is under way, also without news.
export function useNow(goes: boolean) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!goes) return;
    const timer = window.setInterval(() => setNow(Date.now()), 500);
    return () => window.clearInterval(timer);
  }, [goes]);
  return now;
}

// A table that scrolls by itself where it is too wide.
export function Table({ label, heads, children }: { label: string; heads: string[]; children: ComponentChildren }) {
  return <div class="wide" role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead><tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead>
      <tbody>{children}</tbody>
    </table>
  </div>;
}

// The services of an environment, each with its place in a view.
export function ServiceNames({ environment, view, services, chosen }: { environment: string; view: string; services: { name: string }[]; chosen?: string }) {
  return services.length === 0 ? <p>There are no services.</p>
    : <nav aria-label="Services"><ul class="row">{services.map((one) => <li key={one.name}>
      <a href={place('env', environment, view, one.name)} aria-current={one.name === chosen ? 'page' : undefined}>{one.name}</a></li>)}</ul></nav>;
}

export const timeOf = (text: string) => new Date(text).toLocaleString();
export const spanOf = (from: string, to: string) => spanOfMs(Date.parse(to) - Date.parse(from));
export function spanOfMs(ms: number) {
  return ms < 1000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
export function sizeOf(bytes: number) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
export const jsonOf = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value, null, 2);
