import { apiOf, type Attempt, useDocument } from './api';
import { place, Shown, State, Table, timeOf, Title } from './parts';

export function Pending({ environment }: { environment: string; rest: string[] }) {
  const answer = useDocument<Attempt[]>(apiOf(environment, '/pending'), environment);
  return <>
    <Title>{`Pending in ${environment}`}</Title>
    <p>Resources that were begun and have not settled.</p>
    <Shown answer={answer}>{(all) => all.length === 0 ? <p>Nothing is pending: everything that was begun has settled.</p>
      : <Table label="Pending" heads={['Resource', 'State', 'Since', 'Why', 'Calls', 'Spent', 'Next try in']}>
        {all.map((one) => <tr key={one.key}>
          <th scope="row"><a href={place('env', environment, 'graph', 'node', one.key)}>{one.key}</a></th>
          <td><State name={one.state} /></td>
          <td>{timeOf(one.started)}</td>
          <td>{one.error ?? ''}</td>
          <td>{one.calls ?? ''}</td>
          <td>{one.spent === null ? '' : `${one.spent.toFixed(1)} s`}</td>
          <td>{one.pause === null ? 'the next run' : `${one.pause.toFixed(1)} s`}</td>
        </tr>)}
      </Table>}</Shown>
  </>;
}
