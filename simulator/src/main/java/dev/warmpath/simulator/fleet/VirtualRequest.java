package dev.warmpath.simulator.fleet;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.PreparedRequest;
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

  /** What computes the prompt for this one; null if it does so itself. */
  final @Nullable VirtualRequest computed;

  /** When its prompt was there for another engine. */
  long computedNanos;

  private VirtualRequest(
      Question question,
      VirtualEngine engine,
      Assignment assignment,
      int answerTokens,
      Transfer transfer,
      @Nullable VirtualRequest computed) {
    super(
        question,
        question.prepared.prompt().lengthTokens(),
        answerTokens,
        true,
        transfer,
        assignment.capsLoads() ? 0 : NO_CAP);
    this.question = question;
    this.engine = engine;
    this.assignment = assignment;
    this.computed = computed;
  }

  /** One that an engine serves alone. */
  static VirtualRequest whole(Question question, VirtualEngine engine, Assignment assignment) {
    return new VirtualRequest(
        question, engine, assignment, question.answerTokens, Transfer.NONE, null);
  }

  /** The same, of whose prompt another engine has sent the first {@code tokens}. */
  VirtualRequest received(int tokens) {
    return new VirtualRequest(
        question, engine, assignment, question.answerTokens, new Transfer(tokens, false), null);
  }

  /** One that computes the prompt for another, and keeps it until that has it. */
  static VirtualRequest prefill(Question question, VirtualEngine engine, Assignment assignment) {
    return new VirtualRequest(question, engine, assignment, 1, new Transfer(0, true), null);
  }

  /** One that answers what {@code computed} has computed. */
  static VirtualRequest decode(
      VirtualRequest computed, VirtualEngine engine, Assignment assignment) {
    Question question = computed.question;
    return new VirtualRequest(
        question,
        engine,
        assignment,
        question.answerTokens,
        new Transfer(question.prepared.prompt().lengthTokens(), false),
        computed);
  }

  /** Whether it only computes a prompt. */
  boolean isPrefill() {
    return holdsBlocks();
  }

  /** A request from its arrival to its end. */
  static final class Question implements dev.warmpath.simulator.engine.BlockNames {
    final int number;
    final VirtualRouter router;
    final PreparedRequest prepared;
    final int answerTokens;
    final long[] names;
    final long arrivedNanos;
    int failures;
    int refusals;
    java.util.Set<String> failedOn = java.util.Set.of();

    @SuppressWarnings("NullAway.Init")
    Assignment answers;

    /** The lives of the engine that answers, when it was chosen. */
    int answeringLives;

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
