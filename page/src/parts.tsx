// Pieces of views.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from './api';

export const place = (...parts: string[]) => '#/' + parts.map(encodeURIComponent).join('/');

// The title of a view gets the focus when the view opens, so that a screen reader says where one is.
export function Title({ children }: { children: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
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

// A table that scrolls by itself where it is too wide.
export function Table({ label, heads, children }: { label: string; heads: string[]; children: ComponentChildren }) {
  return <div class="wide" role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead><tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead>
      <tbody>{children}</tbody>
    </table>
  </div>;
}

export const timeOf = (text: string) => new Date(text).toLocaleString();
export function spanOf(from: string, to: string) {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 1000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
export function sizeOf(bytes: number) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
export const jsonOf = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value, null, 2);
