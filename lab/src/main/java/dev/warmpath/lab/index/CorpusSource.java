package dev.warmpath.lab.index;

import java.io.IOException;

/**
 * Where a corpus comes from: a file or a generator. Feeds the same records each time.
 *
 * <p>Immutable.
 */
interface CorpusSource {

  /** For reports. */
  String name();

  /** What the engines have in common. */
  CorpusShape shape();

  /**
   * Hands all records to {@code sink} and returns what an exact index answers to the queries, which
   * was worked out without an index.
   */
  ExactAnswers feed(CorpusSink sink) throws IOException;
}
