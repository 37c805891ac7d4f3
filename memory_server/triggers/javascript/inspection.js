// What a trial watches a trigger for. The prelude compiles it only for that; it uses captured built-ins as the prelude
// does, for the same reason.
(function (touch, isReading) {
  'use strict';

  const { stringify } = JSON;
  const { apply } = Reflect;
  const NativeProxy = Proxy;
  const { toPrimitive } = Symbol;
  const { exec } = RegExp.prototype;
  const { slice } = String.prototype;
  const { set: mapSet, has: mapHas } = Map.prototype;

  const noticed = new Map();
  let noticedCount = 0;
  let noticedTexts = '';

  // The same data, which records what of it the trigger reads itself, without match_keys, and what is not there.
  function watched(data, what) {
    if (typeof data !== 'object' || data === null) return data;
    return new NativeProxy(data, {
      __proto__: null,
      get(target, name) {
        touch('text');
        if (!isReading()) missed(target, name, what);
        return watched(target[name], what === 'messages' ? 'message' : '');
      },
      has(target, name) {
        if (what === 'messages' && typeof name === 'string' && !isIndex(name)) notice('messages as a text');
        return name in target;
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
      setPrototypeOf: () => false,
      preventExtensions: () => false,
    });
  }

  function isIndex(name) {
    // `messages[messages.length - 1]` without messages is at -1.
    return apply(exec, /^(-1|0|[1-9][0-9]*)$/, [name]) !== null;
  }

  function missed(target, name, what) {
    if (what === '' || name === 'toJSON') return;
    if (typeof name === 'symbol') {
      if (name === toPrimitive) notice(what + ' as a text');
    } else if (what === 'messages') {
      if (name === 'includes' || name === 'join' || name === 'toString') notice('messages as a text');
      else if (!(name in target) && !isIndex(name)) notice('messages.' + apply(slice, name, [0, 60]));
    } else if (!(name in target) && name !== 'name' && name !== 'timestamp') {
      notice('message.' + apply(slice, name, [0, 60]));
    }
  }

  function notice(what) {
    if (apply(mapHas, noticed, [what]) || noticedCount >= 5) return;
    apply(mapSet, noticed, [what, true]);
    noticedTexts += (noticedCount++ === 0 ? '' : ',') + stringify(what);
  }

  return { __proto__: null, watched, noticed: () => '[' + noticedTexts + ']' };
});
