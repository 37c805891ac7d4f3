// Tells where locale.js writes a date otherwise than Node does, and keeps some of Node's texts in dates.json:
// node tests/triggers/corpus/dates.mjs
import { readFileSync, writeFileSync } from 'node:fs';

process.env.TZ = 'Asia/Shanghai';
const locale = readFileSync(new URL('../../../memory_server/triggers/javascript/locale.js', import.meta.url), 'utf8');
const { text } = (0, eval)(locale)((message) => { throw new RangeError(message); });

function* combinations(choices) {
  const [[key, values] = [], ...rest] = choices;
  if (key === undefined) return yield {};
  for (const inner of combinations(rest)) {
    yield inner;
    for (const value of values) yield { [key]: value, ...inner };
  }
}

const sizes = ['numeric', '2-digit'];
const names = ['long', 'short'];
const parts = { weekday: names, year: sizes, month: [...sizes, ...names], day: sizes };
const clock = { hour: sizes, minute: sizes, second: sizes, hour12: [true, false], hourCycle: ['h12', 'h23'] };
const styles = { dateStyle: ['full', 'long', 'medium', 'short'], timeStyle: ['medium', 'short'] };
const both = { weekday: names, month: ['numeric', 'long', 'short'], day: ['numeric'], year: ['numeric'], hour: ['numeric'], minute: ['2-digit'] };
const days = [[2026, 0, 1, 0, 5, 9], [2026, 6, 17, 9, 5, 0], [2026, 8, 30, 12, 0, 1], [2027, 10, 9, 23, 59, 59]].map((each) => new Date(...each));
const methods = { toLocaleDateString: 'date', toLocaleTimeString: 'time', toLocaleString: 'all' };

let same = 0, refused = 0;
const kept = [];
const other = new Map();
for (const where of ['en-US', 'en-GB', 'zh-CN', undefined]) {
  for (const set of [parts, clock, styles, both]) {
    for (const options of combinations(Object.entries(set))) {
      for (const [method, needed] of Object.entries(methods)) {
        for (const day of days) {
          let expected, given;
          try { given = text(method, day, where, options, needed); } catch { refused++; continue; }
          try { expected = day[method](where ?? 'en-US', options).replace(/\u202f/g, ' '); } catch { expected = 'an error'; }
          if (given === expected) {
            if (same++ % 71 === 0) kept.push([`new Date(${day.getTime()}).${method}('${where ?? 'en-US'}', ${JSON.stringify(options)})`, expected]);
          }
          else other.set(`${where} ${method} ${JSON.stringify(options)}`, `${expected} | ${given}`);
        }
      }
    }
  }
}
writeFileSync(new URL('dates.json', import.meta.url), `[\n${kept.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
console.log(`${same} the same, ${refused} refused, ${other.size} other`);
for (const [call, texts] of [...other].slice(0, 60)) console.log(call, texts);
process.exitCode = other.size > 0 ? 1 : 0;
