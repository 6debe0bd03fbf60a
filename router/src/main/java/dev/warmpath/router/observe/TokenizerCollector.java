package dev.warmpath.router.observe;

import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.body.BodyParser;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.tokenize.TokenizerStatus.Download;
import dev.warmpath.router.tokenize.parity.ParityStatus;
import dev.warmpath.router.tokenize.parity.ParityWatch;
import dev.warmpath.router.tokenize.remote.RemotePrompts;
import dev.warmpath.tokenizer.encode.cache.EncodeCounts;
import dev.warmpath.tokenizer.encode.cache.LayerCounts;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the tokenizers stand when a scrape asks for it.
 *
 * <p>Thread-safe if its source is.
 */
public final class TokenizerCollector {

  private final Supplier<List<TokenizerStatus>> status;
  private final Supplier<BodyParser.Counts> bodies;
  private final @Nullable ParityWatch parity;
  private final @Nullable RemotePrompts remote;

  /**
   * Reads from these.
   *
   * @param parity null if nothing is compared
   * @param remote null if no engine is asked
   */
  public TokenizerCollector(
      Supplier<List<TokenizerStatus>> status,
      Supplier<BodyParser.Counts> bodies,
      @Nullable ParityWatch parity,
      @Nullable RemotePrompts remote) {
    this.status = status;
    this.bodies = bodies;
    this.parity = parity;
    this.remote = remote;
  }

  public void collect(MetricValues to) {
    for (TokenizerStatus model : status.get()) {
      boolean ready = model.state() == TokenizerStatus.State.READY;
      to.add(Metric.TOKENIZER_READY, ready ? 1 : 0, model.model());
      to.add(Metric.TOKENIZER_LOAD_FAILURES_TOTAL, model.failures(), model.model());
      to.add(Metric.TOKENIZER_QUARANTINED, model.quarantined() ? 1 : 0, model.model());
      download(to, model.model(), model.download());
      if (model.tokenizer() != null) {
        memory(to, model.model(), model.tokenizer().encodeCounts());
      }
      checks(to, model.model());
    }
    bodies(to, bodies.get());
    if (parity != null) {
      to.add(Metric.PARITY_BODIES_SHARE, parity.bodiesShare());
    }
    if (remote != null) {
      to.add(Metric.REMOTE_MEMORY_SHARE, remote.memoryShare());
    }
  }

  private static void download(MetricValues to, String model, Download download) {
    to.add(Metric.TOKENIZER_DOWNLOADED_BYTES, download.bytes(), model);
    to.add(Metric.TOKENIZER_DOWNLOAD_SIZE_BYTES, download.totalBytes(), model);
    to.add(Metric.TOKENIZER_DOWNLOAD_RETRIES_TOTAL, download.retries(), model);
  }

  private static void memory(MetricValues to, String model, EncodeCounts counts) {
    to.add(Metric.TOKENS_TOTAL, counts.prefixTokens(), model, "prefix");
    to.add(Metric.TOKENS_TOTAL, counts.chunkTokens(), model, "chunk");
    to.add(Metric.TOKENS_TOTAL, counts.wordTokens(), model, "word");
    to.add(Metric.TOKENS_TOTAL, counts.nativeTokens(), model, "native");
    layer(to, model, "prefix", counts.prefixes());
    layer(to, model, "chunk", counts.chunks());
    layer(to, model, "word", counts.words());
  }

  private static void layer(MetricValues to, String model, String name, LayerCounts layer) {
    to.add(Metric.TOKENIZER_MEMORY_BYTES, layer.bytes(), model, name);
    to.add(Metric.TOKENIZER_MEMORY_MAX_BYTES, layer.maxBytes(), model, name);
    to.add(Metric.TOKENIZER_EVICTIONS_TOTAL, layer.evictions(), model, name);
  }

  private static void bodies(MetricValues to, BodyParser.Counts counts) {
    to.add(Metric.BODY_BYTES_TOTAL, counts.knownBytes(), "memory");
    to.add(Metric.BODY_BYTES_TOTAL, counts.parsedBytes(), "parsed");
    to.add(Metric.BODY_MEMORY_BYTES, counts.bytes());
    to.add(Metric.BODY_MEMORY_MAX_BYTES, counts.maxBytes());
    to.add(Metric.BODY_EVICTIONS_TOTAL, counts.evictions());
  }

  private void checks(MetricValues to, String model) {
    ParityStatus checked = parity == null ? null : parity.of(model);
    if (checked != null) {
      checked
          .counts()
          .forEach((result, n) -> to.add(Metric.PARITY_CHECKS_TOTAL, n, model, result.label()));
    }
  }
}
