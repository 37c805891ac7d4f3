// Writes into triggers.jsonl what Node makes of each trigger: node tests/triggers/corpus/node.mjs
//
// `match_keys` and the frozen clock are those of the prelude; all else is Node's own, dates in words too. A value is true,
// false, or null where the trigger fails; a trigger that fails in all its conversations has no `node`.
import { readFileSync, writeFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

const here = new URL('.', import.meta.url);
const { zone, conversation_id, talks } = JSON.parse(readFileSync(new URL('talks.json', here), 'utf8'));
const prelude = readFileSync(new URL('../../../memory_server/triggers/javascript/prelude.js', here), 'utf8');
// Scripts without spaces, as one class; then the traditional characters that triggers or talks have.
const TABLE = '\u0e01-\u0fff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\x01電\0电腦\0脑';
process.env.TZ = zone;
process.on('unhandledRejection', () => {}); // of a trigger that calls import()

function value(source, { at, participants, messages }) {
  const context = createContext({});
  const own = runInContext('[Intl, ...["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].map(n => [n, Date.prototype[n]])]', context);
  const evaluate = runInContext(prelude, context)(TABLE, 'null');
  const [intl, ...methods] = own;
  Object.defineProperty(context, 'Intl', { value: intl });
  const prototype = runInContext('Date.prototype', context);
  for (const [name, method] of methods) Object.defineProperty(prototype, name, { value: method });
  const said = messages.map(([role, content]) => ({ role, content }));
  const request = { source, now: Date.parse(at), seed: 1, trial: null };
  const told = JSON.parse(evaluate(JSON.stringify(request), JSON.stringify({ messages: said, conversation_id, participants })));
  return told.kind === 'value' ? told.holds : null;
}

const file = new URL('triggers.jsonl', here);
const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => {
  const { node, ...entry } = JSON.parse(line);
  const values = [...entry.talks].map((talk) => value(entry.trigger, talks[talk]));
  const runs = values.some((each) => each !== null) && !/\bsimilar\(/.test(entry.trigger);
  return JSON.stringify(runs ? { ...entry, node: values } : entry);
});
writeFileSync(file, lines.join('\n') + '\n');
