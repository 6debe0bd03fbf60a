package dev.warmpath.lab.index;

/**
 * What an exact index answers to the queries of a corpus.
 *
 * @param interleaved each query asked right after the records before it
 * @param atEnd each query asked after the last record
 * @param memberships (worker, group, block) triples that are held after the last record
 */
record ExactAnswers(Sums interleaved, Sums atEnd, long memberships) {}
