// The realm in which all triggers run: what they can call, and the function that evaluates one.
//
// Nothing that one trigger does can be seen by the next: everything that can be reached from the global object is frozen,
// the global object takes no new members, and what this file itself remembers of a trigger is reset before the next one.
// The model is `lockdown` of Hardened JavaScript (Endo, SES). What a trigger changes of its own objects could still lie to
// the report about it, so the code below uses captured built-ins, no iteration and no array methods, and of regular
// expressions only `exec`, and `replace` where both properties that it reads are `fixed`.
(function (table, locale, inspection) {
  'use strict';

  const { parse, stringify } = JSON;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const evaluate = eval;
  const NativeDate = Date;
  const NativeRegExp = RegExp;
  const NativePromise = Promise;
  const NativeError = Error;
  const NativeMap = Map;
  const NativeSet = Set;
  const NativeRangeError = RangeError;
  const { create, freeze, preventExtensions } = Object;
  const { isArray } = Array;
  const { slice: arraySlice, some, find, findLast, filter } = Array.prototype;
  const SEARCHES = { __proto__: null, some, find, findLast, filter };
  const { floor, imul, max } = Math;
  const { exec } = RegExp.prototype;
  const replace = RegExp.prototype[Symbol.replace];
  const { normalize, toLowerCase, toWellFormed, indexOf, slice, trim, codePointAt } = String.prototype;
  const { toFixed } = Number.prototype;
  const sizeOf = getOwnPropertyDescriptor(Map.prototype, 'size').get;
  const { get: mapGet, set: mapSet, has: mapHas } = Map.prototype;
  const hasInstance = Function.prototype[Symbol.hasInstance];
  const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
  const dateText = Date.prototype.toString;

  const hidden = (target, name, value) =>
    defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true, __proto__: null });

  // ------------------------------------------------------------------ text

  // The table: the characters of scripts without spaces up to U+0001, then triples: a traditional character, NUL, the
  // simplified one.
  const unspaced = apply(slice, table, [0, apply(indexOf, table, ['\x01'])]);
  const HAN = /[\u3400-\u9fff\ud840-\ud8ff]/;
  // All characters except ASCII and those that are never part of a word with edges: punctuation, Han, kana, hangul.
  const FOREIGN =
    /[^\0-\x7f\u2010-\u2027\u3001-\u3004\u3008-\u3020\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]/;
  const MARK =
    '[\\u0300-\\u036f\\u0483-\\u0487\\u0591-\\u05bd\\u0610-\\u061a\\u064b-\\u065f\\u1ab0-\\u1ace\\u1dc0-\\u1dff' +
    '\\u20d0-\\u20dc\\u302a-\\u302f\\u3099\\u309a\\ufe20-\\ufe2f]';
  const LONG_ROW = fixed(new NativeRegExp(MARK + '{30}(?=' + MARK + ')', 'g'), 'g');
  const APOSTROPHE = fixed(/[\u2018\u2019]/g, 'g');
  const SPACES = fixed(/[ \t]{2,}|\t/g, 'g');
  const PLAIN_WORD = fixed(/[a-z0-9_]+/g, 'g');
  let foreignWord = null;
  const simple = new Map();
  // Texts that are ready to be searched, which are the same for all triggers of a search.
  const MOST_READY = 4e6;
  let ready = new Map();
  let readyLength = 0;

  // `replace` reads these two properties from the expression itself, so a trigger cannot replace them.
  function fixed(expression, flags) {
    hidden(expression, 'exec', exec);
    hidden(expression, 'flags', flags);
    return expression;
  }

  function characterAt(text, index) {
    return apply(slice, text, [index, index + (apply(codePointAt, text, [index]) > 0xffff ? 2 : 1)]);
  }

  function simplified(character) {
    let to = apply(mapGet, simple, [character]);
    if (to === undefined) {
      const at = apply(indexOf, table, [character + '\0']);
      to = at === -1 ? character : characterAt(table, at + character.length + 1);
      apply(mapSet, simple, [character, to]);
    }
    return to;
  }

  function fold(text) {
    // Normalizing a longer row of marks takes quadratic time.
    const safe = apply(replace, LONG_ROW, [text, '$&\u034f']);
    const spelled = apply(toLowerCase, apply(normalize, safe, ['NFKC']), []);
    const lower = apply(replace, SPACES, [apply(replace, APOSTROPHE, [spelled, "'"]), ' ']);
    if (apply(exec, HAN, [lower]) === null) return lower;
    let result = '';
    for (let i = 0, character; i < lower.length; i += character.length) {
      character = characterAt(lower, i);
      result += character < '\u3400' ? character : simplified(character);
    }
    return result;
  }

  // Puts an edge on both sides of each word. No folded text contains one, so a search for a substring finds whole words.
  function edged(folded) {
    if (apply(exec, FOREIGN, [folded]) === null) return apply(replace, PLAIN_WORD, [folded, '\u3000$&\u3000']);
    // Compiled only when needed: its tables take longer than everything else here.
    foreignWord ??= fixed(
      new NativeRegExp('[[\\p{L}\\p{N}_]--[' + unspaced + ']][[\\p{L}\\p{N}\\p{M}_]--[' + unspaced + ']]*', 'gv'),
      'gv'
    );
    return apply(replace, foreignWord, [folded, '\u3000$&\u3000']);
  }

  function searchable(text) {
    let result = apply(mapGet, ready, [text]);
    if (result === undefined) {
      result = edged(fold(text));
      readyLength += result.length;
      if (readyLength > MOST_READY) forgetTexts();
      apply(mapSet, ready, [text, result]);
    }
    return result;
  }

  function forgetTexts() {
    ready = new NativeMap();
    readyLength = 0;
  }

  // ------------------------------------------------------------------ keys

  function isRegExp(value) {
    if (typeof value !== 'object' || value === null) return false;
    try {
      apply(sourceOf, value, []);
      return true;
    } catch {
      return false;
    }
  }

  // Each key once, ready to be searched for: a fresh copy of a regular expression, or a folded text.
  function prepare(name, keys) {
    const single = !isArray(keys);
    const seen = new Map();
    const ready = create(null);
    let count = 0;
    for (let i = 0; i < (single ? 1 : keys.length); i++) {
      const key = single ? keys : keys[i];
      let entry;
      if (typeof key === 'string') {
        if (trial !== null && keysCount < 50) keysTexts += (keysCount++ === 0 ? '' : ',') + stringify(apply(slice, key, [0, 200]));
        const text = edged(apply(trim, fold(key), []));
        entry = { __proto__: null, label: named(key), identity: 's' + text, text, key, pattern: null, at: 0 };
      } else if (isRegExp(key)) {
        const pattern = new NativeRegExp(key);
        const label = '/' + apply(sourceOf, key, []) + '/' + pattern.flags;
        entry = { __proto__: null, label, identity: 'r' + label, text: '', key: '', pattern, at: 0 };
      } else {
        throw new TypeError('a key of ' + name + ' must be a string or a regular expression, not ' + typeof key);
      }
      if (apply(mapHas, seen, [entry.identity])) continue;
      apply(mapSet, seen, [entry.identity, true]);
      ready[count++] = entry;
    }
    ready.length = count;
    return ready;
  }

  function found(entry, text) {
    if (entry.pattern !== null) {
      entry.pattern.lastIndex = 0;
      const hit = apply(exec, entry.pattern, [text]);
      if (hit !== null) entry.at = hit.index;
      return hit !== null;
    }
    return entry.text !== '' && apply(indexOf, searchable(text), [entry.text]) !== -1;
  }

  const SCOPES = {
    __proto__: null,
    any: () => true,
    user: (role) => role === 'user',
    assistant: (role) => role === 'assistant' || role === 'char',
    char: (role) => role === 'assistant' || role === 'char',
    system: (role) => role === 'system',
    both: (role) => role === 'user' || role === 'assistant' || role === 'char',
    other: (role) => role !== 'user' && role !== 'assistant' && role !== 'char',
    notuser: (role) => role !== 'user',
    notchar: (role) => role !== 'assistant' && role !== 'char',
  };

  function wholeDepth(depth) {
    const number = depth ?? 4;
    if (+number !== +number) return 4;
    return floor(number) === 0 ? Infinity : max(1, floor(number));
  }

  // Of the last `depth` messages those in the scope, as {role, text}.
  function recent(name, messages, scope, depth) {
    if (!isArray(messages)) throw new TypeError('the first argument of ' + name + ' must be a list of messages, such as context.messages');
    const wanted = SCOPES[scope ?? 'any'];
    if (wanted === undefined) throw new TypeError('the scope must be one of ' + ownKeys(SCOPES) + ', not ' + stringify(scope));
    const chosen = create(null);
    let count = 0;
    for (let i = max(0, messages.length - depth); i < messages.length; i++) {
      const message = messages[i];
      if (typeof message === 'string') throw new TypeError('the first argument of ' + name + ' must hold messages, not texts');
      if (message === null || typeof message !== 'object') continue;
      const { role, content } = message;
      if (typeof content !== 'string' || !wanted(role)) continue;
      chosen[count++] = { __proto__: null, role, text: content };
    }
    chosen.length = count;
    return chosen;
  }

  // ------------------------------------------------------------------ what was found, and what a trial forces

  let trial = null;
  let inspector = null;
  let reading = 0;
  let calls = 0;
  let touched = '';
  let why = '';
  let explaining = false;
  let told = new Map();
  let keysCount = 0;
  let keysTexts = '';

  function touch(what) {
    if (reading === 0 && apply(indexOf, touched, [what]) === -1) touched += what + ' ';
  }

  // What is said stands between these marks, so that it is not kept with a wake.
  const BEGIN = '\x02';
  const END = '\x03';
  const MARKS = fixed(/[\x02\x03]/g, 'g');
  const WHITE = fixed(/\s+/g, 'g');
  const EXCERPT = 40;
  const BEFORE = 15;
  const MOST_HITS = 3;

  function oneLine(text) {
    return apply(replace, WHITE, [apply(replace, MARKS, [text, '']), ' ']);
  }

  // A text of the trigger in quotation marks, cut.
  function named(text) {
    return "'" + oneLine(text.length > EXCERPT ? apply(slice, text, [0, EXCERPT]) + '…' : text) + "'";
  }

  function excerpt(text, at, length) {
    const begin = at + length > EXCERPT ? max(0, at - BEFORE) : 0;
    const shown = apply(trim, oneLine(apply(slice, text, [begin, begin + EXCERPT])), []);
    return BEGIN + (begin > 0 ? '…' : '') + shown + (begin + EXCERPT < text.length ? '…' : '') + END;
  }

  function tell(line) {
    if (why.length > 600 || apply(mapHas, told, [line])) return;
    apply(mapSet, told, [line, true]);
    why += (why === '' ? '' : '\n') + apply(slice, line, [0, 200]);
  }

  function roleOf(message) {
    return typeof message.role === 'string' ? oneLine(apply(slice, message.role, [0, 20])) : 'a';
  }

  function tellHit(entry, message) {
    const { text } = message;
    const at = entry.pattern === null ? max(0, apply(indexOf, apply(toLowerCase, text, []), [apply(toLowerCase, entry.key, [])])) : entry.at;
    tell(entry.label + ' in ' + roleOf(message) + ' message: ' + excerpt(text, at, entry.key.length));
  }

  // The labels of the entries that `chosen` picks, the first few by name.
  function labels(entries, chosen) {
    let count = 0;
    let text = '';
    for (let k = 0; k < entries.length; k++) {
      if (!chosen(entries[k])) continue;
      if (count++ < MOST_HITS) text += (text === '' ? '' : ', ') + entries[k].label;
    }
    return count > MOST_HITS ? text + ' and ' + (count - MOST_HITS) + ' more' : text;
  }

  function meets(message) {
    if (typeof message.content === 'string')
      tell('the ' + roleOf(message) + ' message meets the condition: ' + excerpt(message.content, 0, 0));
  }

  // In a trial, call number i of match_keys finds its keys if bit i of `trial.calls` is set.
  function forced(most) {
    const bit = (trial.calls >>> (calls < 31 ? calls : 31)) & 1;
    calls++;
    return bit === 0 ? 0 : trial.once ? 1 : most;
  }

  function count(messages, keys, scope, depth) {
    const entries = prepare('match_keys', keys);
    const chosen = recent('match_keys', messages, scope, depth);
    let live = 0;
    for (let k = 0; k < entries.length; k++) if (entries[k].pattern !== null || entries[k].text !== '') live++;
    if (trial !== null) return live === 0 ? 0 : forced(live * depth);
    let sum = 0;
    for (let i = 0; i < chosen.length; i++) {
      for (let k = 0; k < entries.length; k++) {
        if (found(entries[k], chosen[i].text) && ++sum <= MOST_HITS) tellHit(entries[k], chosen[i]);
      }
    }
    if (sum > MOST_HITS) tell(sum + ' keys found in total');
    if (sum === 0 && explaining) tell('not found: ' + labels(entries, () => true));
    return sum;
  }

  function all(messages, keys, scope, depth) {
    const entries = prepare('match_keys_all', keys);
    const chosen = recent('match_keys_all', messages, scope, depth);
    if (entries.length === 0) return false;
    for (let k = 0; k < entries.length; k++) if (entries[k].pattern === null && entries[k].text === '') return false;
    if (trial !== null) return forced(1) > 0;
    if (chosen.length === 0) return false;
    let text = '';
    for (let i = 0; i < chosen.length; i++) text += (i === 0 ? '' : '\n') + chosen[i].text;
    const missing = labels(entries, (entry) => !found(entry, text));
    if (missing === '') tell('all found: ' + labels(entries, () => true));
    else if (explaining) tell('not found: ' + missing);
    return missing === '';
  }

  // What `work` reads is not read by the trigger itself.
  function unwatched(work) {
    reading++;
    try {
      return work();
    } finally {
      reading--;
    }
  }

  hidden(globalThis, 'match_keys', function match_keys(messages, keys, scope, depth) {
    return unwatched(() => count(messages, keys, scope, wholeDepth(depth)));
  });
  hidden(globalThis, 'match_keys_all', function match_keys_all(messages, keys, scope, depth) {
    return unwatched(() => all(messages, keys, scope, wholeDepth(depth)));
  });

  // ------------------------------------------------------------------ meaning

  // The engine cannot tell what is similar. It asks the server, and the trigger runs again with the answers, in `near`.
  const MOST_ASKS = 8;
  const KEPT = 250;
  let near = {};
  let asked = new NativeMap();
  let asks = '';

  // The server compares no more of a longer text.
  function ends(text) {
    if (text.length <= 2 * KEPT) return apply(toWellFormed, text, []);
    const cut = apply(slice, text, [0, KEPT]) + '\n' + apply(slice, text, [text.length - KEPT]);
    return apply(toWellFormed, cut, []);
  }

  // A message by its place in the conversation, any other text by itself.
  function written(text) {
    const { messages } = shared;
    for (let i = messages.length - 1; i >= 0; i--) if (messages[i].content === text) return '' + i;
    return stringify(ends(text));
  }

  function compared(messages, text, threshold) {
    const chosen = recent('similar', messages, 'any', 4);
    if (typeof text !== 'string') throw new TypeError('the second argument of similar must be a text');
    const limit = threshold ?? 0.4;
    if (typeof limit !== 'number') throw new TypeError('the threshold of similar must be a number, such as 0.4');
    let key = '[' + stringify(ends(text));
    for (let i = 0; i < chosen.length; i++) if (chosen[i].text !== '') key += ',' + written(chosen[i].text);
    if (inspector !== null || key === '[' + stringify(ends(text))) return false;
    key += ']';
    const known = near[key];
    if (known === undefined) {
      if (!apply(mapHas, asked, [key]) && apply(sizeOf, asked, []) < MOST_ASKS) {
        apply(mapSet, asked, [key, true]);
        asks += (asks === '' ? '' : ',') + key;
      }
      return false;
    }
    if (known === null) return false;
    const holds = known >= limit;
    if (explaining) tell((holds ? 'a' : 'no') + ' message is similar to ' + named(text) + ' (' + apply(toFixed, known, [2]) + ')');
    return holds;
  }

  hidden(globalThis, 'similar', function similar(messages, text, threshold) {
    touch('meaning');
    return unwatched(() => compared(messages, text, threshold));
  });

  // ------------------------------------------------------------------ acts

  // What is known only at run time stands in a word as this sign; a word of two of them stands for any words.
  const UNSEEN = '\x1a';
  const MANY = UNSEEN + UNSEEN;
  const NO_ACT = '{"tool":"","path":"","command":"","args":{},"commands":[],"code":[],"hidden":false,"reads":[],"writes":[]}';
  const PART = fixed(/\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)/y, 'y');
  const QUOTES = fixed(/["']/g, 'g');
  const SUB_COMMAND = fixed(/^[A-Za-z][\w:.-]*$/, '');
  const VARIABLE = fixed(/^[A-Za-z_]\w*=/, '');
  const SPECIAL = fixed(/[.+^${}()|[\]\\]/, '');
  const paths = new Map();
  // What is not known counts as `doubts`; `doubted` says that the value depends on it.
  let doubts = true;
  let doubted = false;

  function perhaps() {
    doubted = true;
    return doubts;
  }

  // True if a text fits a pattern, in which `star` stands for any signs.
  function wild(pattern, text, star) {
    let p = 0;
    let t = 0;
    let from = -1;
    let mark = 0;
    while (t < text.length) {
      if (p < pattern.length && pattern[p] === star) {
        from = p++;
        mark = t;
      } else if (p < pattern.length && pattern[p] === text[t]) {
        p++;
        t++;
      } else if (from !== -1) {
        p = from + 1;
        t = ++mark;
      } else return false;
    }
    while (p < pattern.length && pattern[p] === star) p++;
    return p === pattern.length;
  }

  const has = (text, part) => apply(indexOf, text, [part]) !== -1;
  const loose = (text) => apply(replace, WHITE, [apply(toLowerCase, text, []), ' ']);

  // 2 if one of the words fits a pattern, 1 if only the run shows it, 0 if none does.
  function fits(pattern, words, many) {
    let best = 0;
    const star = has(pattern, '*');
    // In any case, as Windows and macOS read names; but `-f` is another flag than `-F`.
    const lower = pattern[0] === '-' && pattern.length < 4 ? '' : apply(toLowerCase, pattern, []);
    for (let i = 0; i < words.length; i++) {
      const word = words[i];
      if (star ? wild(loose(pattern), loose(word), '*') : word === pattern) return 2;
      if (lower !== '' && word.length === lower.length && apply(toLowerCase, word, []) === lower) return 2;
      if (has(word, UNSEEN) && (word === MANY ? many && (!star || words.length === 1) : word === UNSEEN || wild(word, pattern, UNSEEN))) best = 1;
    }
    return best;
  }

  // The parts of a pattern such as `git push --force`.
  function parted(pattern) {
    const parts = { __proto__: null, env: create(null), words: create(null), flags: create(null), program: '', leads: false };
    let variables = 0;
    let words = 0;
    let flags = 0;
    PART.lastIndex = 0;
    for (let hit; (hit = apply(exec, PART, [pattern])) !== null; ) {
      let word = apply(replace, QUOTES, [hit[1], '']);
      if (word[0] === '*' && word[word.length - 1] !== '*') {
        // `*drop table*` is one word.
        const end = apply(indexOf, pattern, ['*', PART.lastIndex]);
        if (end !== -1) {
          word += apply(slice, pattern, [PART.lastIndex, end + 1]);
          PART.lastIndex = end + 1;
        }
      }
      if (parts.program === '' && apply(exec, VARIABLE, [word]) !== null) parts.env[variables++] = word;
      else if (parts.program === '') parts.program = word;
      else if (word[0] !== '-' || word.length === 1) {
        if (words === 0 && flags === 0) parts.leads = apply(exec, SUB_COMMAND, [word]) !== null;
        parts.words[words++] = word;
      } else {
        const at = apply(indexOf, word, ['=']);
        parts.flags[flags++] = at === -1 ? word : apply(slice, word, [0, at]);
        if (at !== -1) parts.words[words++] = apply(slice, word, [at + 1]);
      }
    }
    parts.env.length = variables;
    parts.words.length = words;
    parts.flags.length = flags;
    return parts;
  }

  function flagged(flag, command) {
    const whole = fits(flag, command.flags, true);
    if (whole !== 0) return whole;
    const rest = fits(MANY, command.words, true) === 2 ? 1 : 0;
    if (flag[1] === '-' || flag.length === 2) return rest;
    if (fits('-' + flag, command.flags, true) === 2) return 2;
    if (flag.length > 7) return rest;
    for (let i = 1; i < flag.length; i++) if (fits('-' + flag[i], command.flags, true) === 0) return rest;
    return 2;
  }

  function ran(parts, command) {
    let least = fits(parts.program, command.programs, false);
    if (least === 0) return 0;
    let sure = least === 2;
    for (let i = 0; i < parts.words.length && least > 0; i++) {
      const word = parts.words[i];
      const fit = fits(word, i === 0 && parts.leads ? command.leads : command.words, true);
      if (fit === 2) sure = true;
      if (fit < least) least = fit;
    }
    for (let i = 0; i < parts.flags.length && least > 0; i++) {
      const fit = flagged(parts.flags[i], command);
      if (fit < least) least = fit;
    }
    for (let i = 0; i < parts.env.length && least > 0; i++) {
      const fit = fits(parts.env[i], command.env, false);
      if (fit < least) least = fit;
    }
    return sure ? least : 0;
  }

  // True if a text in another language has all parts of a pattern.
  function mentioned(parts, text) {
    if (!worded(parts.program, text)) return false;
    for (let i = 0; i < parts.words.length; i++) if (!worded(parts.words[i], text)) return false;
    for (let i = 0; i < parts.flags.length; i++) if (!worded(parts.flags[i], text)) return false;
    return true;
  }

  const LETTER = fixed(/\w/, '');

  function worded(word, text) {
    const wanted = loose(apply(replace, STARS, [word, '']));
    const lower = loose(text);
    if (wanted === '') return true;
    for (let at = -1; (at = apply(indexOf, lower, [wanted, at + 1])) !== -1; ) {
      const before = at === 0 ? ' ' : lower[at - 1];
      const after = lower[at + wanted.length] ?? ' ';
      if (apply(exec, LETTER, [before + after]) === null || has(word, '*')) return true;
    }
    return false;
  }
  const STARS = fixed(/\*/g, 'g');

  function actOf(name, act, pattern) {
    if (typeof act !== 'object' || act === null || !isArray(act.commands)) {
      throw new TypeError('the first argument of ' + name + ' must be act');
    }
    if (typeof pattern !== 'string') throw new TypeError('the second argument of ' + name + ' must be a text');
  }

  function runsOne(act, pattern) {
    actOf('runs', act, pattern);
    const parts = parted(pattern);
    if (parts.program === '') throw new TypeError("the second argument of runs must be a command, such as 'git push'");
    let best = 0;
    for (let i = 0; i < act.commands.length && best < 2; i++) best = max(best, ran(parts, act.commands[i]));
    for (let i = 0; i < act.code.length && best === 0; i++) if (mentioned(parts, act.code[i])) best = 1;
    if (best === 0 && act.hidden) best = 1;
    if (best === 2) tell('it runs ' + pattern);
    if (best === 1) tell('it may run ' + pattern);
    return best === 2 || (best === 1 && perhaps());
  }

  hidden(globalThis, 'runs', function runs(act, ...patterns) {
    let holds = false;
    if (patterns.length === 0) actOf('runs', act);
    for (let i = 0; i < patterns.length; i++) if (runsOne(act, patterns[i])) holds = true;
    return holds;
  });

  // The expression of a path pattern: `*` stands for a part of a name, `**` for any folders.
  function pathExpression(pattern) {
    let made = apply(mapGet, paths, [pattern]);
    if (made !== undefined) return made;
    let text = pattern;
    if (text[0] === '.' && text[1] === '/') text = apply(slice, text, [2]);
    while (text.length > 1 && text[text.length - 1] === '/') text = apply(slice, text, [0, text.length - 1]);
    const anchored = pattern[0] === '/' || pattern[0] === '~' || text !== pattern && pattern[0] === '.';
    let source = anchored ? '^' : '(?:^|/)';
    for (let i = 0; i < text.length; i++) {
      const sign = text[i];
      if (sign === '*' && text[i + 1] === '*') {
        i++;
        const folder = text[i + 1] === '/';
        source += folder ? '(?:.*/)?' : '.*';
        if (folder) i++;
      } else if (sign === '*') source += '[^/]*';
      else if (sign === '?') source += '[^/]';
      else source += apply(exec, SPECIAL, [sign]) !== null ? '\\' + sign : sign;
    }
    made = { __proto__: null, expression: new NativeRegExp(source + '(?:/.*)?$', 'i'), literal: literalOf(text) };
    hidden(made.expression, 'exec', exec);
    if (apply(sizeOf, paths, []) < 1000) apply(mapSet, paths, [pattern, made]);
    return made;
  }

  // What stands before the first wildcard.
  function literalOf(text) {
    let end = 0;
    while (end < text.length && text[end] !== '*' && text[end] !== '?') end++;
    return apply(slice, text, [0, end]);
  }

  function pathFits(made, path) {
    const below = path.length > 3 && apply(slice, path, [path.length - 3]) === '/**';
    const base = below ? apply(slice, path, [0, path.length - 3]) : path;
    if (apply(exec, made.expression, [base]) !== null) return true;
    if (!below || base === '') return false;
    if (apply(exec, made.expression, [base + '/x']) !== null) return true; // the pattern is of all in a folder
    return base === '.' || base === '*' || apply(indexOf, made.literal, [base + '/']) === 0;
  }

  function namesFile(name, act, pattern, list) {
    actOf(name, act, pattern);
    const made = pathExpression(pattern);
    let unseen = false;
    for (let i = 0; i < list.length; i++) {
      if (pathFits(made, list[i])) {
        tell('it ' + name + ' ' + apply(slice, list[i], [0, 100]));
        return true;
      }
      if (has(list[i], UNSEEN)) unseen = true;
    }
    let maybe = act.hidden;
    for (let i = 0; i < act.commands.length && unseen && !maybe; i++) {
      const { words } = act.commands[i];
      for (let k = 0; k < words.length; k++) if (pathFits(made, words[k])) maybe = true;
    }
    const literal = made.literal !== '' ? made.literal : apply(replace, STARS, [pattern, '']);
    for (let i = 0; i < act.code.length && !maybe; i++) maybe = literal.length > 2 && has(act.code[i], literal);
    if (!maybe) return false;
    tell('it may be that it ' + name + ' ' + pattern);
    return perhaps();
  }

  hidden(globalThis, 'touches', function touches(act, ...patterns) {
    let holds = false;
    for (let i = 0; i < patterns.length; i++) if (namesFile('touches', act, patterns[i], act.writes)) holds = true;
    return holds;
  });
  hidden(globalThis, 'reads', function reads(act, ...patterns) {
    let holds = false;
    for (let i = 0; i < patterns.length; i++) if (namesFile('reads', act, patterns[i], act.reads)) holds = true;
    return holds;
  });

  // ------------------------------------------------------------------ time and chance

  let now = 0;

  function FrozenDate() {
    if (new.target === undefined) {
      touch('Date');
      return apply(dateText, new NativeDate(now), []);
    }
    if (arguments.length > 0) return construct(NativeDate, arguments, new.target);
    touch('Date');
    return construct(NativeDate, [now], new.target);
  }
  defineProperty(FrozenDate, 'name', { value: 'Date' });
  defineProperty(FrozenDate, 'length', { value: 7 });
  defineProperty(FrozenDate, 'prototype', { value: NativeDate.prototype, writable: false });
  hidden(FrozenDate, 'now', function () {
    touch('Date');
    return now;
  });
  hidden(FrozenDate, 'parse', NativeDate.parse);
  hidden(FrozenDate, 'UTC', NativeDate.UTC);
  hidden(NativeDate.prototype, 'constructor', FrozenDate);
  hidden(globalThis, 'Date', FrozenDate);

  // In an explanation, what was read of the present date.
  const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const { getTime, getHours, getMinutes, getFullYear, getMonth, getDate, getDay } = NativeDate.prototype;
  const two = (number) => (number < 10 ? '0' : '') + number;
  const clock = (date) => 'the time is ' + two(apply(getHours, date, [])) + ':' + two(apply(getMinutes, date, []));
  const SAID = {
    __proto__: null,
    getFullYear: (date, value) => 'the year is ' + value,
    getMonth: (date, value) => 'the month is ' + MONTHS[value],
    getDate: (date, value) => 'the day is ' + value,
    getDay: (date, value) => 'it is ' + DAYS[value],
    getHours: clock,
    getMinutes: clock,
    getSeconds: clock,
  };
  for (const name in SAID) {
    const native = NativeDate.prototype[name];
    const said = SAID[name];
    const getter = {
      [name]() {
        const value = apply(native, this, []);
        if (explaining && apply(getTime, this, []) === now) tell(said(this, value));
        return value;
      },
    };
    hidden(NativeDate.prototype, name, getter[name]);
  }

  // ------------------------------------------------------------------ reminders

  const MINUTE = 60000;
  const MOMENT = fixed(/^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)$/, '');
  const EVERY = fixed(/^(\d{1,4}) (minute|hour|day|weekday|week|month|year)s?$/, '');
  const LENGTHS = { __proto__: null, minute: MINUTE, hour: 60 * MINUTE };
  const DAYS_OF = { __proto__: null, day: 1, weekday: 1, week: 7 };
  const MONTHS_OF = { __proto__: null, month: 1, year: 12 };
  const DAY = 24 * 60 * MINUTE;

  // The occurrence number k of what comes again by the calendar: the last day of a month that has no such day.
  function occurrence(first, months, days, k) {
    const month = apply(getMonth, first, []) + k * months;
    const end = new NativeDate(apply(getFullYear, first, []), month + 1, 0);
    const day = apply(getDate, first, []);
    const last = apply(getDate, end, []);
    return new NativeDate(
      apply(getFullYear, first, []), month, (months > 0 && day > last ? last : day) + k * days,
      apply(getHours, first, []), apply(getMinutes, first, [])
    );
  }

  // The latest occurrence that has come.
  function latest(first, count, unit) {
    const begin = apply(getTime, first, []);
    const length = LENGTHS[unit];
    if (length !== undefined) return begin + floor((now - begin) / (count * length)) * count * length;
    const days = count * (DAYS_OF[unit] ?? 0);
    const months = count * (MONTHS_OF[unit] ?? 0);
    let k = floor((now - begin) / (DAY * (days + 31 * months)));
    while (apply(getTime, occurrence(first, months, days, k + 1), []) <= now) k++;
    while (k > 0 && apply(getTime, occurrence(first, months, days, k), []) > now) k--;
    if (unit === 'weekday') while (k > 0 && apply(getDay, occurrence(first, months, days, k), []) % 6 === 0) k--;
    return apply(getTime, occurrence(first, months, days, k), []);
  }

  function momentOf(text) {
    const parts = typeof text === 'string' ? apply(exec, MOMENT, [text]) : null;
    if (parts === null) throw new TypeError("the second argument of due must be a local time, such as '2026-11-27T09:00'");
    return new NativeDate(+parts[1], parts[2] - 1, +parts[3], +parts[4], +parts[5]);
  }

  hidden(globalThis, 'due', function due(told, moment, every) {
    touch('Date');
    const first = momentOf(moment);
    let last = apply(getTime, first, []);
    if (every !== undefined) {
      const parts = typeof every === 'string' ? apply(exec, EVERY, [every]) : null;
      if (parts === null || +parts[1] === 0) throw new TypeError("the third argument of due must be a length of time, such as '2 weeks'");
      if (last <= now) last = latest(first, +parts[1], parts[2]);
    }
    if (last > now || told >= last) {
      if (explaining) tell(last > now ? 'it is not due yet' : 'it has been told');
      return false;
    }
    const date = new NativeDate(last);
    const day = apply(getDate, date, []) + ' ' + MONTHS[apply(getMonth, date, [])] + ' ' + apply(getFullYear, date, []);
    tell('due since ' + DAYS[apply(getDay, date, [])] + ', ' + day + ', ' + two(apply(getHours, date, [])) + ':' + two(apply(getMinutes, date, [])));
    return true;
  });

  // Dates in words are in `locale`, which is compiled when they are first needed.
  let words = null;

  function inWords() {
    const refuse = (message) => {
      throw new NativeRangeError(message);
    };
    return (words ??= frozen(evaluate(locale)(refuse)));
  }

  hidden(NativeDate.prototype, 'toLocaleDateString', function toLocaleDateString(locales, options) {
    return inWords().text('toLocaleDateString', this, locales, options, 'date');
  });
  hidden(NativeDate.prototype, 'toLocaleTimeString', function toLocaleTimeString(locales, options) {
    return inWords().text('toLocaleTimeString', this, locales, options, 'time');
  });
  hidden(NativeDate.prototype, 'toLocaleString', function toLocaleString(locales, options) {
    return inWords().text('toLocaleString', this, locales, options, 'all');
  });
  const makeIntl = () => inWords().Intl;
  defineProperty(globalThis, 'Intl', { __proto__: null, get: makeIntl, configurable: true });

  // A trigger must not measure time, take a function from a stack frame, or wait.
  delete globalThis.performance;
  delete globalThis.Atomics;
  delete globalThis.SharedArrayBuffer;
  // These two are accessors, whose setters would change the engine for all triggers.
  defineProperty(NativeError, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
  defineProperty(NativeError, 'stackTraceLimit', { value: 10, writable: false, configurable: false });

  let chance = 0;

  // One step of a counter whose bits are then mixed; all 32 bits of the result are evenly distributed.
  function draw() {
    chance = (chance + 0x9e3779b9) | 0;
    let bits = chance;
    bits = imul(bits ^ (bits >>> 16), 0x21f0aaad);
    bits = imul(bits ^ (bits >>> 15), 0x735a2d97);
    return (bits ^ (bits >>> 15)) >>> 0;
  }

  hidden(Math, 'random', function random() {
    touch('chance');
    return ((draw() >>> 5) * 0x4000000 + (draw() >>> 6)) / 0x20000000000000;
  });

  // ------------------------------------------------------------------ evaluation

  let data = null;
  let shared = null;
  let current = null;

  // Parses the situation of the following triggers, for all of them once.
  function learn(text, moment) {
    data = text;
    now = moment;
    forgetTexts();
    shared = null;
    const context = parse(text);
    const { messages } = context;
    for (let i = 0; i < messages.length; i++) freeze(messages[i]);
    freeze(messages);
    frozen(context.participants);
    context.act = frozen(context.act ?? parse(NO_ACT));
    shared = freeze(context);
  }

  // A trial watches a situation of its own.
  function watched() {
    const context = parse(data);
    context.messages = inspector.watched(context.messages, 'messages');
    context.participants = inspector.watched(context.participants, '');
    context.act = shared.act;
    const { conversation_id } = context;
    const get = () => (touch('text'), conversation_id);
    defineProperty(context, 'conversation_id', { __proto__: null, get, configurable: true });
    return freeze(context);
  }

  function seen() {
    if (current === null) throw new NativeError('the conversation is too long');
    return current;
  }

  // Forgets the trigger before.
  function begin(seed, index) {
    chance = imul(seed ^ imul(index + 1, 0x85ebca6b), 0xc2b2ae35);
    reading = calls = keysCount = 0;
    touched = why = keysTexts = asks = '';
    told = new NativeMap();
    asked = new NativeMap();
    near = {};
    explaining = doubted = false;
    doubts = true;
    trial = inspector = null;
    current = shared;
  }

  // Why a value cannot be used as an answer, or ''.
  function refusal(value) {
    if (typeof value === 'function') return 'it returns a function instead of a value: call the function';
    if (typeof value === 'symbol') return 'it returns a symbol, which cannot be true or false';
    if (typeof value === 'object' && value !== null && apply(hasInstance, NativePromise, [value])) {
      return 'it returns a promise, which is never awaited here: do not use async';
    }
    return '';
  }

  // The answer is written field by field: `stringify` of an object runs setters of Array.prototype, of a text nothing.
  function failed(kind, name, message, stack) {
    return whole(
      '{"kind":' + stringify(kind) + ',"name":' + stringify(name) + ',"message":' + stringify(message) +
      ',"stack":' + stringify(stack) + '}'
    );
  }

  // The same text in one piece: Python cannot take one that the engine keeps as a tree of parts.
  function whole(text) {
    return apply(slice, text, [0, text.length]);
  }

  function failure(error) {
    const answer = { __proto__: null, kind: 'error', name: '', message: 'it throws a value that cannot be shown', stack: '' };
    try {
      if (typeof error === 'object' && error !== null) {
        const { name, message, stack } = error;
        if (typeof name === 'string') answer.name = apply(slice, name, [0, 60]);
        if (typeof message === 'string') answer.message = apply(slice, message, [0, 400]);
        if (answer.name === 'InternalError' && answer.message === 'out of memory') answer.kind = 'memory';
        if (typeof stack === 'string') answer.stack = apply(slice, stack, [0, 2000]);
      } else if (error === null) {
        answer.message = 'it throws null, as the engine does when its memory is full';
        answer.kind = 'memory';
      } else if (typeof error !== 'symbol' && typeof error !== 'function') {
        answer.message = 'it throws ' + apply(slice, '' + error, [0, 400]);
      }
    } catch {
      // Reading the thrown value throws again.
    }
    return failed(answer.kind, answer.name, answer.message, answer.stack);
  }

  // A trigger runs strict, and where only globals are seen. The name stands in the stack of an error.
  const { runTrigger } = evaluate("({ runTrigger: function () { 'use strict'; return eval(arguments[0]); } })");

  function judged(source, seed, index, more) {
    try {
      begin(seed, index);
      if (more !== '') {
        const { trial: plan, parts, near: answers } = parse(more);
        near = answers ?? near;
        if (parts !== undefined) return explained(parts);
        if (plan !== undefined) {
          trial = plan;
          inspector = evaluate(inspection)(touch, () => reading > 0);
          current = watched();
        }
      }
      const value = apply(runTrigger, globalThis, [source]);
      if (asks !== '') return whole('{"kind":"ask","asks":[' + asks + ']}');
      const message = refusal(value);
      if (message !== '') return failed('error', '', message, '');
      let holds = value ? true : false;
      if (doubted && inspector === null) {
        doubts = false;
        const sure = apply(runTrigger, globalThis, [source]) ? true : false;
        doubted = sure !== holds;
        holds = holds || sure;
      }
      const answer = '{"kind":"value","holds":' + holds + ',"doubted":' + doubted + ',"why":' + stringify(why);
      if (inspector === null) return whole(answer + '}');
      return whole(
        answer + ',"type":"' + typeof value + '","calls":' + calls + ',"touched":' + stringify(touched) +
        ',"noticed":' + inspector.noticed() + ',"keys":[' + keysTexts + ']}'
      );
    } catch (error) {
      return asks === '' ? failure(error) : whole('{"kind":"ask","asks":[' + asks + ']}');
    }
  }

  // For each part of a trigger: its value in words, whether that is true, and why.
  function explained(parts) {
    explaining = true;
    current = witnessed();
    let list = '';
    for (let i = 0; i < parts.length; i++) {
      why = '';
      told = new NativeMap();
      let text = 'fails';
      let holds = false;
      try {
        const value = apply(runTrigger, globalThis, [parts[i]]);
        text = shown(value);
        holds = value ? true : false;
      } catch {
        // The part before it may have guarded it.
      }
      list += (i === 0 ? '[' : ',[') + stringify(text) + ',' + holds + ',' + stringify(why) + ']';
    }
    return whole('{"kind":"parts","parts":[' + list + ']}');
  }

  function shown(value) {
    if (typeof value === 'string') return BEGIN + stringify(oneLine(apply(slice, value, [0, EXCERPT]))) + END;
    if (typeof value === 'object' && value !== null) return isArray(value) ? 'a list' : 'an object';
    if (typeof value === 'function' || typeof value === 'symbol') return 'a ' + typeof value;
    return '' + value;
  }

  // The situation with messages that tell which of them a trigger looked for.
  function witnessed() {
    const messages = apply(arraySlice, shared.messages, []);
    for (const name in SEARCHES) {
      hidden(messages, name, function (test, self) {
        if (typeof test !== 'function') return apply(SEARCHES[name], this, [test]);
        const look = (message, index, list) => {
          const met = apply(test, self, [message, index, list]);
          if (met && typeof message === 'object' && message !== null) meets(message);
          return met;
        };
        return apply(SEARCHES[name], this, [look]);
      });
    }
    freeze(messages);
    const { conversation_id, participants, act } = shared;
    return freeze({ messages, conversation_id, participants, act });
  }

  // ------------------------------------------------------------------ the lock

  const done = new NativeSet();
  const { add: setAdd, has: setHas } = NativeSet.prototype;

  // Freezes a value and all that can be reached from it.
  function frozen(value) {
    const waiting = create(null);
    waiting[0] = value;
    for (let count = 1; count > 0; ) {
      const item = waiting[--count];
      if ((typeof item !== 'object' && typeof item !== 'function') || item === null) continue;
      if (item === globalThis || apply(setHas, done, [item])) continue;
      apply(setAdd, done, [item]);
      freeze(item);
      waiting[count++] = getPrototypeOf(item);
      const names = ownKeys(item);
      for (let i = 0; i < names.length; i++) {
        const property = getOwnPropertyDescriptor(item, names[i]);
        waiting[count++] = property.value;
        waiting[count++] = property.get;
        waiting[count++] = property.set;
      }
    }
    return value;
  }

  // What no name leads to: the prototypes of iterators, generators and asynchronous functions.
  const UNNAMED =
    "[[][Symbol.iterator](), ''[Symbol.iterator](), /a/[Symbol.matchAll](''), new Map().entries(), new Set().values()," +
    'Iterator.from({ next() {} }), [].values().map(String), (function* () {})(), (async function* () {})(), async () => {},' +
    "(function () { 'use strict'; return arguments; })(), [].values().take(1)]";

  function lock() {
    const accessor = (name, get) =>
      defineProperty(globalThis, name, { __proto__: null, get, set: undefined, enumerable: false, configurable: false });
    accessor('context', seen);
    accessor('messages', () => seen().messages);
    accessor('participants', () => seen().participants);
    accessor('conversation_id', () => seen().conversation_id);
    accessor('act', () => (touch('act'), seen().act));
    accessor('told', () => (touch('text'), 0));
    frozen(evaluate(UNNAMED));
    frozen(runTrigger);
    const names = ownKeys(globalThis);
    for (let i = 0; i < names.length; i++) {
      const property = getOwnPropertyDescriptor(globalThis, names[i]);
      frozen([property.value, property.get, property.set, getPrototypeOf(globalThis)]);
      const fixed = 'value' in property ? { writable: false, configurable: false } : { configurable: false };
      defineProperty(globalThis, names[i], fixed);
    }
    preventExtensions(globalThis);
  }

  lock();
  return (source, seed, index, more) => (source === null ? learn(more, seed) : judged(source, seed, index, more));
});
