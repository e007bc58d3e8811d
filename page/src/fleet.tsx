import { apiOf, type Fleet as FleetView, useDocument } from './api';
import { Shown, sizeOf, State, Table, Title } from './parts';

const text = (value: unknown) => value === undefined || value === null ? '' : String(value);

export function Fleet({ environment }: { environment: string; rest: string[] }) {
  const answer = useDocument<FleetView>(apiOf(environment, '/fleet'), environment);
  return <>
    <Title>{`Fleet of ${environment}`}</Title>
    <Shown answer={answer}>{({ objects, pods, images }) => objects.length === 0 && pods.length === 0 ? <p>It has no workloads.</p> : <>
      <h2>Workloads</h2>
      <Table label="Workloads" heads={['Kind', 'Name', 'Wanted', 'Ready', 'Updated', 'Available']}>
        {objects.map((one) => <tr key={`${one.kind} ${one.metadata.namespace} ${one.metadata.name}`}>
          <td>{one.kind}</td>
          <th scope="row">{one.metadata.namespace === undefined ? '' : `${one.metadata.namespace}/`}{one.metadata.name}</th>
          <td>{text(one.spec?.replicas ?? one.status?.desiredNumberScheduled)}</td>
          <td>{text(one.status?.readyReplicas ?? one.status?.numberReady)}</td>
          <td>{text(one.status?.updatedReplicas ?? one.status?.updatedNumberScheduled)}</td>
          <td>{text(one.status?.availableReplicas ?? one.status?.numberAvailable)}</td>
        </tr>)}
      </Table>
      <h2>Pods</h2>
      {pods.length === 0 ? <p>There are none.</p> : <Table label="Pods" heads={['Name', 'State', 'Node']}>
        {pods.map((pod) => <tr key={`${pod.metadata.namespace} ${pod.metadata.name}`}>
          <th scope="row">{pod.metadata.namespace}/{pod.metadata.name}</th>
          <td><State name={text(pod.status?.phase)} /></td>
          <td>{text(pod.spec?.nodeName)}</td>
        </tr>)}
      </Table>}
      <h2>Images</h2>
      {images.length === 0 ? <p>There are none.</p> : <Table label="Images" heads={['Node', 'Image', 'State', 'Size', 'Why']}>
        {images.map((image) => <tr key={`${image.node} ${image.image}`}>
          <td>{image.node}</td>
          <th scope="row" class="code">{image.image}</th>
          <td><State name={image.status} /></td>
          <td>{image.bytes > 0 && sizeOf(image.bytes)}</td>
          <td>{image.message}</td>
        </tr>)}
      </Table>}
    </>}</Shown>
  </>;
}
