// Which words does a typed word find? This is added to Material's search, whose lunr finds all that begins with what was
// typed, and as much for "in" of "in-place" as for "place". Here a word is kept as it is written and by its stem, whole
// words count more than beginnings, and words that are everywhere count nothing. Chinese has no spaces between words, so
// each part of a run of its characters that reaches to the end is a word, too: a typed word is the beginning of one.
"use strict";
(() => {
  const BEGINNING = 0.15; // what the beginning of a longer word counts, beside a whole word
  const PART = 0.3; // what a part of a name counts, beside the whole: "grad" of "grad_fn"
  const JOINT = /[._-]+/;
  const stem = lunr.stemmer;
  const stemOf = (word) => stem(new lunr.Token(word)).toString();
  const isEverywhere = (word) => lunr.stopWordFilter(new lunr.Token(word)) === undefined;

  const partsOf = (word) =>
    JOINT.test(word) ? word.split(JOINT).filter((part) => part.length > 1 && !isEverywhere(part)) : [];

  const CHINESE = /\p{Script=Han}+/gu;
  const endings = (run) => [...run].map((_, start) => [...run].slice(start).join(""));
  const chineseIn = (word) => (word.match(CHINESE) ?? []).flatMap(endings);

  // lunr's own takes all but ASCII off the ends of a word.
  const trimmed = (word) => word.replace(/^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_]+$/gu, "");
  const trim = (token) => token.update(trimmed);
  lunr.Pipeline.registerFunction(trim, "trim");
  lunr.trimmer = trim;

  // Each word of a text, and of a question, as it is written, by its stem, and by its parts where it has joints.
  const words = (token) => {
    const found = new Set([token.toString(), stemOf(token.toString())]);
    for (const part of partsOf(token.toString())) found.add(part).add(stemOf(part));
    for (const part of chineseIn(token.toString())) found.add(part);
    return [...found].map((word) => token.clone(() => word));
  };
  lunr.Pipeline.registerFunction(words, "words");
  lunr.stemmer = words;
  lunr.QueryLexer.termSeparator = /\s+/; // "in-place" is one word

  // Material asks for "strides*". Ask for "strides" too, and let that count more.
  const ask = lunr.Index.prototype.query;
  lunr.Index.prototype.query = function (build) {
    const asked = [];
    const results = ask.call(this, (query) => {
      build.call(query, query);
      const open = query.clauses.filter(
        (clause) => clause.term.endsWith("*") && clause.presence === lunr.Query.presence.OPTIONAL,
      );
      const telling = open.filter((clause) => !isEverywhere(clause.term.slice(0, -1)));
      if (telling.length) query.clauses = query.clauses.filter((clause) => !open.includes(clause) || telling.includes(clause));
      for (const clause of telling) {
        const word = trimmed(clause.term.slice(0, -1));
        if (!word) continue;
        clause.boost *= BEGINNING;
        for (const part of partsOf(word)) query.clause({ term: part, fields: clause.fields, boost: PART });
        query.clause({ term: word, fields: clause.fields, usePipeline: false });
        query.clause({ term: stemOf(word), fields: clause.fields, usePipeline: false });
        asked.push(word);
      }
    });
    // A page that has the stem has the word: Material says below each result what it did not find there.
    for (const { matchData } of results)
      for (const word of asked) if (stemOf(word) in matchData.metadata) matchData.metadata[word] ??= {};
    return results;
  };
})();
