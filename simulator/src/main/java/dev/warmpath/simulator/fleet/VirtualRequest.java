package dev.warmpath.simulator.fleet;

import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.simulator.engine.EngineRequest;
import org.jspecify.annotations.Nullable;

/**
 * One try of a request on an engine.
 *
 * <p>Single writer.
 */
final class VirtualRequest extends EngineRequest {

  final Question question;
  final VirtualEngine engine;
  final Assignment assignment;
  long firstTokenNanos;

  VirtualRequest(Question question, VirtualEngine engine, Assignment assignment) {
    super(question, question.prepared.prompt().lengthTokens(), question.answerTokens);
    this.question = question;
    this.engine = engine;
    this.assignment = assignment;
  }

  /** A request from its arrival to its end. */
  static final class Question implements dev.warmpath.simulator.engine.cache.BlockNames {
    final int number;
    final VirtualRouter router;
    final PreparedRequest prepared;
    final int answerTokens;
    final long[] names;
    final long arrivedNanos;
    int failures;
    java.util.Set<String> failedOn = java.util.Set.of();
    @Nullable VirtualRequest tried;

    Question(
        int number,
        VirtualRouter router,
        PreparedRequest prepared,
        int answerTokens,
        long[] names,
        long arrivedNanos) {
      this.number = number;
      this.router = router;
      this.prepared = prepared;
      this.answerTokens = answerTokens;
      this.names = names;
      this.arrivedNanos = arrivedNanos;
    }

    /** Blocks that the trace does not name, an answer's above all, are this request's alone. */
    @Override
    public long of(int block) {
      return block < names.length ? names[block] : Workload.ownName(number, block);
    }
  }
}
