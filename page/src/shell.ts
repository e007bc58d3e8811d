// xterm.js over a WebSocket of the server.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { terminalKey } from './key';

interface Talk {
  isReader: boolean;
  opened: () => void;
  ended: (text: string) => void;
  refused: (path: string) => void;
  leave: () => void;
}

// The policy of the page allows no style that stands in it. xterm.js makes elements of styles, and gives spans an attribute
// of style. While a terminal is open, those become style sheets and properties, which scripts may set. (xterm.js takes
// another document, but does not ask it for its spans.)
function withoutStyles(): () => void {
  const sheets: CSSStyleSheet[] = [], create = Document.prototype.createElement.bind(document);
  const withProperties = (element: HTMLElement) => {
    const set = element.setAttribute.bind(element);
    element.setAttribute = (name, value) => { if (name === 'style') element.style.cssText = value; else set(name, value); };
    return element;
  };
  const asSheet = (element: HTMLElement) => {
    const sheet = new CSSStyleSheet();
    sheets.push(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  };
  document.createElement = ((name: string) => name === 'style' ? asSheet(create('span')) : name === 'span' ? withProperties(create(name)) : create(name)) as typeof document.createElement;
  return () => {
    Reflect.deleteProperty(document, 'createElement');
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

function colours() {
  const style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue(name).trim();
  return { background: colour('--box'), foreground: colour('--text'), cursor: colour('--accent'), selectionBackground: colour('--line') };
}

export function openShell(box: HTMLElement, path: string, talk: Talk): () => void {
  const withStyles = withoutStyles();
  const terminal = new Terminal({ theme: colours(), scrollback: 5000, screenReaderMode: talk.isReader,
    minimumContrastRatio: 4.5, fontFamily: 'ui-monospace, monospace', fontSize: 14, cursorBlink: false });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  fit.fit();
  const place = new URL(`.${path}`, location.href).href.replace(/^http/, 'ws');
  const socket = new WebSocket(`${place}?rows=${terminal.rows}&columns=${terminal.cols}`, ['fettle.terminal', `key.${terminalKey()}`]);
  socket.binaryType = 'arraybuffer';
  let isOpen = false, isOver = false;
  const say = (message: object) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };
  const end = (text: string) => {
    if (isOver) return;
    isOver = true;
    talk.ended(text);
  };
  socket.onopen = () => { isOpen = true; talk.opened(); terminal.focus(); };
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') {
      const bytes = new Uint8Array(data as ArrayBuffer);
      // The server sends no more than what was drawn.
      terminal.write(bytes, () => say({ taken: bytes.length }));
      return;
    }
    const said = JSON.parse(data) as { ended?: number; error?: string };
    end(said.error ?? `It has ended with ${said.ended}.`);
  };
  socket.onclose = () => { if (isOpen) end('The connection has ended.'); else if (!isOver) talk.refused(path); };
  const encoder = new TextEncoder();
  const type = (bytes: Uint8Array) => {
    // A message has 64 kB at most.
    for (let i = 0; i < bytes.length && socket.readyState === WebSocket.OPEN; i += 32_768) socket.send(bytes.slice(i, i + 32_768));
  };
  terminal.onData((text) => type(encoder.encode(text)));
  terminal.onBinary((text) => type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  terminal.onResize(({ rows, cols }) => say({ rows, columns: cols }));
  // Tab is the shell's, so there is another key that leads out.
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'Escape' || !event.shiftKey) return true;
    if (event.type === 'keydown') talk.leave();
    return false;
  });
  const sizes = new ResizeObserver(() => fit.fit()), dark = matchMedia('(prefers-color-scheme: dark)');
  const recolour = () => { terminal.options.theme = colours(); };
  sizes.observe(box);
  dark.addEventListener('change', recolour);
  return () => {
    isOver = true;
    sizes.disconnect();
    dark.removeEventListener('change', recolour);
    socket.close();
    terminal.dispose();
    withStyles();
  };
}
