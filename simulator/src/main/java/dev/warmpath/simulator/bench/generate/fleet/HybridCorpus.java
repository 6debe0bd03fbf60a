package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.simulator.bench.corpus.CorpusShape;
import dev.warmpath.simulator.bench.corpus.CorpusSink;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.generate.requests.RequestSource;
import java.io.IOException;

/**
 * Requests served by engines of a hybrid model; WPIX v1 cannot express it.
 *
 * <p>Immutable.
 */
public record HybridCorpus(String name, RequestSource requests, HybridPlan plan)
    implements CorpusSource {

  @Override
  public CorpusShape shape() {
    return plan.shape();
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) throws IOException {
    EventWriter writer = new EventWriter(sink, new HashNames(false), shape().space().rootKey());
    HybridFleet fleet = new HybridFleet(plan, writer);
    requests.feed(fleet::serve);
    return fleet.answers();
  }
}
