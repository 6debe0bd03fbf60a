/**
 * {@code bench index} and {@code bench churn}: what the index costs, with every answer compared.
 *
 * <pre>{@code
 * WpixFile, or Corpora (RecordedFleet serves a PromptTrace) ─▶ Corpus
 * Corpus ─▶ IndexBench, pass by pass ─▶ BenchReport
 * }</pre>
 *
 * <p>Start with {@link IndexBench}: a {@link Corpus} (events and queries) is played to an index in
 * passes, and the answers must be {@link ExactAnswers}, worked out by {@code WpixFile.CorpusModel}.
 * {@link Corpora} makes corpora by recording caches of simulated engines. For engines that store
 * and evict without end start at {@link ChurnBench}, for engines that reconnect at {@code
 * BenchChurnCommand.ReconnectBench}.
 */
@NullMarked
package dev.warmpath.lab.index;

import org.jspecify.annotations.NullMarked;
