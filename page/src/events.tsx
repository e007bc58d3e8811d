import { useEffect, useState } from 'preact/hooks';
import { ask, type EventPage, type FettleEvent, useEvents, useTrouble } from './api';
import { place, State, Table, timeOf, Title } from './parts';

const most = 1000;
const fits = (event: FettleEvent, text: string) =>
  text === '' || [event.text, event.type, event.key, event.verb].some((part) => part?.toLowerCase().includes(text.toLowerCase()));

export function EventsView({ environment }: { environment: string; rest: string[] }) {
  const [text, setText] = useState(''), [typed, setTyped] = useState('');
  const [events, setEvents] = useState<FettleEvent[] | undefined>(), [next, setNext] = useState<number | null>(null);
  const [error, setError] = useState('');
  const [turn, setTurn] = useState(0);
  const trouble = useTrouble();
  const load = (before: number | null) => {
    const query = new URLSearchParams();
    if (environment !== '') query.set('environment', environment);
    if (text !== '') query.set('text', text);
    if (before !== null) query.set('before', String(before));
    return ask<EventPage>(`/api/events?${query}`);
  };
  useEffect(() => {
    let isWanted = true;
    load(null).then((page) => { if (isWanted) { setEvents(page.events); setNext(page.next); setError(''); } },
      (failure: Error) => isWanted && setError(failure.message));
    return () => { isWanted = false; };
  }, [environment, text, turn]);
  useEffect(() => { if (trouble === '' && error !== '') setTurn((now) => now + 1); }, [trouble]);
  useEvents((event) => {
    if ((environment === '' || event.environment === environment) && fits(event, text))
      setEvents((now) => now === undefined || now.some((one) => one.sequence === event.sequence) ? now : [...now, event].slice(-most));
  }, [environment, text]);
  const older = () => next !== null && load(next).then((page) => {
    setEvents((now) => [...page.events, ...(now ?? [])]);
    setNext(page.next);
  }, (failure: Error) => setError(failure.message));
  return <>
    <Title>{environment === '' ? 'Events' : `Events of ${environment}`}</Title>
    <form role="search" onSubmit={(submit) => { submit.preventDefault(); if (typed !== text) { setText(typed); setEvents(undefined); } }}>
      <label>Find <input type="search" value={typed} onInput={(input) => setTyped(input.currentTarget.value)} /></label>
      <button type="submit">Find</button>
    </form>
    {error !== '' && <p class="error" role="alert">{error}</p>}
    {events === undefined ? error === '' && <p role="status">Loading…</p> : <>
      <p role="status">{events.length} events{text !== '' && ` with “${text}”`}, the newest first; new ones come by themselves.</p>
      {events.length > 0 && <Table label="Events" heads={['Time', ...(environment === '' ? ['Environment'] : []), 'Event', 'Resource', 'Text']}>
        {[...events].reverse().map((event) => <tr key={event.sequence}>
          <td>{timeOf(event.time)}</td>
          {environment === '' && <td><a href={place('env', event.environment)}>{event.environment}</a></td>}
          <td><State name={event.type} /> {event.key !== null && event.verb}</td>
          <td>{event.key !== null && <a href={place('env', event.environment, 'graph', 'node', event.key)}>{event.key}</a>}</td>
          <td>{event.text}</td>
        </tr>)}
      </Table>}
      {next !== null && <button type="button" onClick={older}>Older events</button>}
    </>}
  </>;
}
