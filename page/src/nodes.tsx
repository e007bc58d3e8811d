// The engines that pods may run on, and what is on them.
import { type Environment, type Fleet, apiOf, type Node, useDocument } from './api';
import { nodeOf, place, Shown, sizeOf, State, Table, Title } from './parts';

export function Nodes() {
  const answer = useDocument<Node[]>('/api/nodes', undefined, false), environments = useDocument<Environment[]>('/api/environments');
  return <>
    <Title>Nodes and images</Title>
    <div class="buttons"><button type="button" onClick={answer.again}>Ask the nodes again</button></div>
    <Shown answer={answer}>{(nodes) => nodes.length === 0 ? <p>There are no nodes but this machine: <code>fettle node add</code> adds one.</p>
      : <Table label="Nodes" heads={['Name', 'State', 'Engine', 'Pods', 'Pulls at once', 'Labels', 'Why']}>
        {nodes.map((node) => <tr key={node.name}>
          <th scope="row">{node.name}</th>
          <td><State name={node.ready ? 'Ready' : 'NotReady'} />{!node.schedulable && ', cordoned'}</td>
          <td class="code">{node.engine}</td>
          <td>{node.pods}</td>
          <td>{node.pulls}</td>
          <td>{Object.entries(node.labels).map(([key, value]) => `${key}=${value}`).join(', ')}</td>
          <td>{node.why ?? ''}</td>
        </tr>)}
      </Table>}</Shown>
    <h2>Images of fleets</h2>
    <Shown answer={environments}>{(all) => <>{all.map((one) => <Images key={one.uuid} environment={one.name} />)}</>}</Shown>
  </>;
}

function Images({ environment }: { environment: string }) {
  const answer = useDocument<Fleet>(apiOf(environment, '/fleet'), environment);
  return <Shown answer={answer}>{({ images }) => images.length === 0 ? null : <>
    <h3><a href={place('env', environment, 'fleet')}>{environment}</a></h3>
    <ImageTable label={`Images of ${environment}`} images={images} />
  </>}</Shown>;
}

export function ImageTable({ label, images }: { label: string; images: Fleet['images'] }) {
  return <Table label={label} heads={['Node', 'Image', 'State', 'Size', 'Why']}>
    {images.map((image) => <tr key={`${image.node} ${image.image}`}>
      <td>{nodeOf(image.node)}</td>
      <th scope="row" class="code">{image.image}</th>
      <td><State name={image.status} /></td>
      <td>{image.bytes > 0 && sizeOf(image.bytes)}</td>
      <td>{image.message}</td>
    </tr>)}
  </Table>;
}
