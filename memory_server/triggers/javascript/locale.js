// Dates in words and in the order of a country, as JavaScript promises and QuickJS leaves out. English and Chinese; the
// patterns are those of the Unicode CLDR, as Node 20 writes them (tests/triggers/corpus/dates.mjs compares). What is not
// known here is refused, never ignored. The prelude compiles it when a trigger first needs it.
(function (refuse) {
  'use strict';

  const EN = {
    weekdays: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
    months: [
      'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
      'December',
    ],
    short: (name) => name.slice(0, 3),
    halves: ['AM', 'PM'],
  };
  const GB = { ...EN, shortMonth: (name) => (name === 'September' ? 'Sept' : name.slice(0, 3)), halves: ['am', 'pm'] };
  const ZH = {
    weekdays: ['星期日', '星期一', '星期二', '星期三', '星期四', '星期五', '星期六'],
    months: ['一月', '二月', '三月', '四月', '五月', '六月', '七月', '八月', '九月', '十月', '十一月', '十二月'],
    halves: ['上午', '下午'],
  };

  const CHOICES = {
    weekday: ['long', 'short'],
    year: ['numeric', '2-digit'],
    month: ['numeric', '2-digit', 'long', 'short'],
    day: ['numeric', '2-digit'],
    hour: ['numeric', '2-digit'],
    minute: ['numeric', '2-digit'],
    second: ['numeric', '2-digit'],
    hour12: [true, false],
    hourCycle: ['h12', 'h23'],
    dateStyle: ['full', 'long', 'medium', 'short'],
    timeStyle: ['medium', 'short'],
  };

  // Zones whose clocks are never changed: minutes east of Greenwich.
  const ZONES = {
    'utc': 0, 'gmt': 0, 'etc/utc': 0, 'asia/shanghai': 480, 'asia/hong_kong': 480, 'asia/taipei': 480,
    'asia/singapore': 480, 'asia/tokyo': 540, 'asia/seoul': 540, 'asia/kolkata': 330,
  };

  const GETTERS = 'use getDay(), getMonth(), getDate(), getHours()';

  function place(name, locales) {
    const first = Array.isArray(locales) ? locales[0] : locales;
    if (first === undefined) return 'en-US';
    const tag = String(first);
    if (/^zh(-(cn|hans|hans-cn|sg))?$/i.test(tag)) return 'zh-CN';
    if (/^en(-us)?$/i.test(tag)) return 'en-US';
    if (/^en-gb$/i.test(tag)) return 'en-GB';
    return refuse(name + " knows 'en-US', 'en-GB' and 'zh-CN', not '" + tag + "': " + GETTERS);
  }

  function checked(name, options) {
    const known = {};
    for (const key of Object.keys(Object(options ?? {}))) {
      const value = options[key];
      if (value === undefined) continue;
      if (key === 'timeZone') {
        if (!(String(value).toLowerCase() in ZONES)) {
          refuse(name + " does not know the timeZone '" + value + "': new Date() is in the user's zone already, so leave timeZone out");
        }
      } else if (!(key in CHOICES) || !CHOICES[key].includes(value)) {
        refuse(name + ' does not know ' + key + ": '" + value + "' here: " + GETTERS);
      }
      known[key] = value;
    }
    return known;
  }

  const DATE = ['weekday', 'year', 'month', 'day'];
  const TIME = ['hour', 'minute', 'second'];

  function completed(name, options, needed) {
    const given = checked(name, options);
    if (given.dateStyle !== undefined || given.timeStyle !== undefined) {
      if ([...DATE, ...TIME].some((key) => given[key] !== undefined)) refuse(name + ' takes a style or single parts, not both');
      if ((needed === 'date' && given.timeStyle) || (needed === 'time' && given.dateStyle)) refuse(name + ' does not take this style');
      return given;
    }
    const has = (keys) => keys.some((key) => given[key] !== undefined);
    const missing = needed === 'date' ? !has(DATE) : needed === 'time' ? !has(TIME) : !has(DATE) && !has(TIME);
    if (missing) {
      if (needed !== 'time') Object.assign(given, { year: 'numeric', month: 'numeric', day: 'numeric' });
      if (needed === 'time' || needed === 'all') Object.assign(given, { hour: 'numeric', minute: 'numeric', second: 'numeric' });
    }
    return given;
  }

  const two = (number) => String(number).padStart(2, '0');
  const sized = (number, how) => (how === '2-digit' ? two(number % 100) : String(number));

  function parts(date, zone) {
    if (zone === undefined) {
      return {
        year: date.getFullYear(), month: date.getMonth(), day: date.getDate(), weekday: date.getDay(),
        hour: date.getHours(), minute: date.getMinutes(), second: date.getSeconds(),
      };
    }
    const there = new date.constructor(date.getTime() + ZONES[String(zone).toLowerCase()] * 60000);
    return {
      year: there.getUTCFullYear(), month: there.getUTCMonth(), day: there.getUTCDate(), weekday: there.getUTCDay(),
      hour: there.getUTCHours(), minute: there.getUTCMinutes(), second: there.getUTCSeconds(),
    };
  }

  const STYLES = {
    full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
    long: { year: 'numeric', month: 'long', day: 'numeric' },
    medium: { year: 'numeric', month: 'short', day: 'numeric' },
  };
  const SHORT = {
    'en-US': { year: '2-digit', month: 'numeric', day: 'numeric' },
    'en-GB': { year: 'numeric', month: '2-digit', day: '2-digit' },
    'zh-CN': { year: 'numeric', month: 'numeric', day: 'numeric' },
  };
  const TIMES = { medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' } };

  const odd = (name) => refuse(name + ' does not know these parts together here: ' + GETTERS);

  function english(name, at, o, british) {
    const words = british ? GB : EN;
    const w = o.weekday && (o.weekday === 'long' ? words.weekdays[at.weekday] : words.weekdays[at.weekday].slice(0, 3));
    const y = o.year && sized(at.year, o.year);
    const d = o.day && sized(at.day, o.day);
    if (o.month === 'long' || o.month === 'short') {
      const full = words.months[at.month];
      const m = o.month === 'long' ? full : british ? words.shortMonth(full) : words.short(full);
      if (!d) return w ? odd(name) : y ? m + ' ' + y : m;
      if (british) {
        const date = d + ' ' + m + (y ? ' ' + y : '');
        return w ? w + (y ? ', ' : ' ') + date : date;
      }
      return (w ? w + ', ' : '') + m + ' ' + d + (y ? ', ' + y : '');
    }
    if (!o.month) {
      if (w && d && !y) return british ? w + ' ' + d : d + ' ' + w;
      return [w, y, d].filter(Boolean).length === 1 ? w || y || d : odd(name);
    }
    let m = sized(at.month + 1, o.month);
    if (british) {
      const mixed = d && !w && o.day !== o.month;
      if ((d || y) && !mixed) m = two(at.month + 1);
      const date = [mixed ? d : d && two(at.day), m, y].filter(Boolean).join('/');
      return w ? (d ? w + (y ? ', ' : ' ') + date : odd(name)) : date;
    }
    const date = [m, d, y].filter(Boolean).join('/');
    return w ? (d ? w + ', ' + date : odd(name)) : date;
  }

  function chinese(name, at, o) {
    const w = o.weekday && (o.weekday === 'long' ? ZH.weekdays[at.weekday] : '周' + ZH.weekdays[at.weekday].slice(2));
    const y = o.year && sized(at.year, o.year);
    const d = o.day && sized(at.day, o.day);
    if (!o.month) {
      if (y && (d || w)) return odd(name);
      return y ? y + '年' : (d ? d + '日' : '') + (w ?? '');
    }
    const m = sized(at.month + 1, o.month);
    if (o.month === 'long' || o.month === 'short') {
      const number = at.month + 1;
      if (!y && !d) return w ? odd(name) : o.month === 'long' ? ZH.months[at.month] : number + '月';
      if (w && !d) return odd(name);
      return (y ? y + '年' : '') + number + '月' + (d ? d + '日' : '') + (w ?? '');
    }
    if (!d) return w || (y && o.month === '2-digit') ? odd(name) : y ? y + '/' + m : m + '月';
    if (w && (o.month !== 'numeric' || o.day !== 'numeric')) return odd(name);
    if (w && y && o.weekday === 'long') return y + '年' + m + '月' + d + '日' + w;
    return [y, m, d].filter(Boolean).join('/') + (w ?? '');
  }

  function clock(name, at, o, where) {
    if (o.hour === undefined) return odd(name);
    if (o.second !== undefined && o.minute === undefined) return odd(name);
    const half = o.hour12 ?? (o.hourCycle ? o.hourCycle === 'h12' : where === 'en-US');
    const words = where === 'zh-CN' ? ZH : where === 'en-GB' ? GB : EN;
    const rest = (o.minute ? ':' + two(at.minute) : '') + (o.second ? ':' + two(at.second) : '');
    if (half && where !== 'en-US' && (o.hour12 || o.hourCycle)) return odd(name);
    if (half) {
      const hour = sized(at.hour % 12 || 12, o.hour);
      const name = words.halves[at.hour < 12 ? 0 : 1];
      if (where === 'zh-CN') return name + hour + (rest || '时');
      return hour + rest + ' ' + name;
    }
    const alone = o.weekday && !o.day && !o.month;
    const minutes = o.minute === '2-digit' && o.second !== 'numeric' && !alone;
    const short = where !== 'en-US' && o.hour === 'numeric' && !o.style && (minutes || (where === 'zh-CN' && !o.minute));
    // English of the United States counts midnight as 24 where hour12 is false.
    const hour = where === 'en-US' && o.hour12 === false && at.hour === 0 ? '24' : short ? String(at.hour) : two(at.hour);
    return hour + (rest || (where === 'zh-CN' ? '时' : ''));
  }

  function text(name, date, locales, options, needed) {
    const where = place(name, locales);
    const given = completed(name, options, needed);
    if (date.getTime() !== date.getTime()) return 'Invalid Date';
    const at = parts(date, given.timeZone);
    const dateStyle = given.dateStyle === 'short' ? SHORT[where] : STYLES[given.dateStyle];
    const o = { ...given, ...dateStyle, ...TIMES[given.timeStyle], style: given.timeStyle };
    const dated = DATE.some((key) => o[key] !== undefined);
    const timed = TIME.some((key) => o[key] !== undefined);
    const day = dated ? (where === 'zh-CN' ? chinese(name, at, o) : english(name, at, o, where === 'en-GB')) : '';
    const time = timed ? clock(name, at, o, where) : '';
    if (!day || !time) return day + time;
    if (where === 'zh-CN') return day + (o.weekday && !o.year && !o.month && !o.day && o.minute ? '' : ' ') + time;
    if (o.weekday && !o.year && !o.month && !o.day) return day + (where === 'en-GB' && !o.minute ? ', ' : ' ') + time;
    const long = o.month === 'long' || (given.dateStyle && (given.dateStyle === 'full' || given.dateStyle === 'long'));
    return day + (long ? ' at ' : ', ') + time;
  }

  function DateTimeFormat(locales, options) {
    const name = 'Intl.DateTimeFormat';
    place(name, locales);
    checked(name, options);
    return {
      format: (date) => text(name, date === undefined ? new Date() : new Date(date), locales, options, 'any'),
      formatToParts: () => refuse('formatToParts is not available: use format, or getDay() and getMonth()'),
      resolvedOptions: () => refuse("resolvedOptions is not available: new Date() is in the user's zone"),
    };
  }

  return { text, Intl: Object.freeze({ DateTimeFormat }) };
});
