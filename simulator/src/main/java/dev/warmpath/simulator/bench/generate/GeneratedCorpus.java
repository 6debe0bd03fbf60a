package dev.warmpath.simulator.bench.generate;

import dev.warmpath.simulator.bench.corpus.CorpusShape;
import dev.warmpath.simulator.bench.corpus.CorpusSink;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import java.io.IOException;

/**
 * Requests served by a fleet of engines with one group of full attention.
 *
 * <p>Immutable.
 */
record GeneratedCorpus(String name, RequestSource requests, FleetPlan plan)
    implements CorpusSource {

  private static final long SEED = 7;

  @Override
  public CorpusShape shape() {
    return CorpusShape.SIMPLE;
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) throws IOException {
    HashNames names = new HashNames(plan.ownHashes());
    EventWriter writer = new EventWriter(sink, names, shape().space().rootKey());
    Fleet fleet = new Fleet(plan, writer, SEED);
    requests.feed(fleet::serve);
    return fleet.answers();
  }
}
