import { type Environment, useDocument } from './api';
import { place, Shown, State, Table, timeOf, Title } from './parts';

export function Environments() {
  const answer = useDocument<Environment[]>('/api/environments');
  return <>
    <Title>Environments</Title>
    <Shown answer={answer}>{(all) => all.length === 0
      ? <p>There are no environments yet. <code>fettle run PACKAGE</code> makes one.</p>
      : <Table label="Environments" heads={['Name', 'State', 'Made']}>
        {all.map((one) => <tr key={one.uuid}>
          <th scope="row"><a href={place('env', one.name)}>{one.name}</a></th>
          <td><State name={one.status} /></td>
          <td>{timeOf(one.created)}</td>
        </tr>)}
      </Table>}
    </Shown>
  </>;
}
