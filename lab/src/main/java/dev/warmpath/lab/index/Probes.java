package dev.warmpath.lab.index;

import dev.warmpath.lab.index.Corpus.Kind;
import java.util.Arrays;

/**
 * The stores after which a worker holds the whole prompt of the query before them: a reader can see
 * that such an event has arrived.
 *
 * <p>Immutable.
 */
final class Probes {

  private final int[] records;
  private final int[] queries;

  private Probes(int[] records, int[] queries) {
    this.records = records;
    this.queries = queries;
  }

  /** The probes among the records from {@code begin} on. */
  static Probes of(Corpus corpus, int begin) {
    int[] records = new int[corpus.queries()];
    int[] queries = new int[corpus.queries()];
    int size = 0;
    int query = -1;
    for (int record = begin; record < corpus.records(); record++) {
      if (corpus.kind(record) == Kind.QUERY) {
        query = record;
      } else if (query >= 0 && completes(corpus, query, record)) {
        records[size] = record;
        queries[size++] = corpus.queryOf(query);
        query = -1;
      }
    }
    return new Probes(Arrays.copyOf(records, size), Arrays.copyOf(queries, size));
  }

  int size() {
    return records.length;
  }

  /** The record of the store. */
  int record(int probe) {
    return records[probe];
  }

  /** The number of the query whose prompt is then held. */
  int query(int probe) {
    return queries[probe];
  }

  private static boolean completes(Corpus corpus, int query, int record) {
    return corpus.kind(record) == Kind.STORE
        && corpus.worker(record) == corpus.worker(query)
        && corpus.endsLike(record, corpus.promptOf(query));
  }
}
