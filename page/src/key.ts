// What acts needs a key beside the cookie, which browsers give to servers at other ports, too. The address that opens the
// page once has it behind `#`; it is kept where pages of this port alone can read it.
const name = 'fettle-key';

// Before anything looks at the address.
export function keepKey() {
  const entered = /^#key=([0-9a-f]{64})(.*)$/.exec(location.hash);
  if (entered === null) return;
  localStorage.setItem(name, entered[1]);
  history.replaceState(null, '', entered[2] === '' ? location.pathname : `${location.pathname}#${entered[2]}`);
}

export const terminalKey = () => localStorage.getItem(name) ?? 'none';
