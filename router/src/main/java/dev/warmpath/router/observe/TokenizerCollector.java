package dev.warmpath.router.observe;

import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.tokenize.parity.ParityStatus;
import dev.warmpath.router.tokenize.parity.ParityWatch;
import dev.warmpath.router.tokenize.remote.RemotePrompts;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the tokenizers stand when a scrape asks for it.
 *
 * <p>Thread-safe if its source is.
 */
public final class TokenizerCollector implements MultiCollector {

  private final Supplier<List<TokenizerStatus>> status;
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
      @Nullable ParityWatch parity,
      @Nullable RemotePrompts remote) {
    this.status = status;
    this.parity = parity;
    this.remote = remote;
  }

  @Override
  public MetricSnapshots collect() {
    Snapshot to = new Snapshot();
    for (TokenizerStatus model : status.get()) {
      boolean ready = model.state() == TokenizerStatus.State.READY;
      to.add(Metric.TOKENIZER_READY, ready ? 1 : 0, model.model());
      to.add(Metric.TOKENIZER_LOAD_FAILURES_TOTAL, model.failures(), model.model());
      to.add(Metric.TOKENIZER_QUARANTINED, model.quarantined() ? 1 : 0, model.model());
      checks(to, model.model());
    }
    if (parity != null) {
      to.add(Metric.PARITY_BODIES_SHARE, parity.bodiesShare());
    }
    if (remote != null) {
      to.add(Metric.REMOTE_MEMORY_SHARE, remote.memoryShare());
    }
    return to.build();
  }

  private void checks(Snapshot to, String model) {
    ParityStatus checked = parity == null ? null : parity.of(model);
    if (checked != null) {
      checked
          .counts()
          .forEach((result, n) -> to.add(Metric.PARITY_CHECKS_TOTAL, n, model, result.label()));
    }
  }
}
