package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.simulator.bench.corpus.CorpusShape;
import dev.warmpath.simulator.bench.corpus.CorpusSink;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.generate.requests.RequestSource;
import java.io.IOException;

/**
 * Requests served by a fleet of engines with one group of full attention.
 *
 * <p>Immutable.
 *
 * @param ballast what the engines hold before the first request
 */
public record GeneratedCorpus(String name, RequestSource requests, FleetPlan plan, Ballast ballast)
    implements CorpusSource {

  private static final long SEED = 7;

  public GeneratedCorpus(String name, RequestSource requests, FleetPlan plan) {
    this(name, requests, plan, new Ballast(0));
  }

  @Override
  public CorpusShape shape() {
    return CorpusShape.SIMPLE;
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) throws IOException {
    HashNames names = new HashNames(plan.ownHashes());
    EventWriter writer = new EventWriter(sink, names, shape().space().rootKey());
    ballast.store(writer, plan);
    Fleet fleet = new Fleet(plan, writer, SEED);
    requests.feed(fleet::serve);
    return fleet.answers().withMore(ballast.memberships());
  }
}
