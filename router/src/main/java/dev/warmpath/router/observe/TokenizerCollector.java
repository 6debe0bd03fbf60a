package dev.warmpath.router.observe;

import dev.warmpath.router.tokenize.TokenizerStatus;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.function.Supplier;

/**
 * Reads how the tokenizers stand when a scrape asks for it.
 *
 * <p>Thread-safe if its source is.
 */
public final class TokenizerCollector implements MultiCollector {

  private final Supplier<List<TokenizerStatus>> status;

  public TokenizerCollector(Supplier<List<TokenizerStatus>> status) {
    this.status = status;
  }

  @Override
  public MetricSnapshots collect() {
    Snapshot to = new Snapshot();
    for (TokenizerStatus model : status.get()) {
      boolean ready = model.state() == TokenizerStatus.State.READY;
      to.add(Metric.TOKENIZER_READY, ready ? 1 : 0, model.model());
      to.add(Metric.TOKENIZER_LOAD_FAILURES_TOTAL, model.failures(), model.model());
      to.add(Metric.TOKENIZER_QUARANTINED, model.quarantined() ? 1 : 0, model.model());
    }
    return to.build();
  }
}
