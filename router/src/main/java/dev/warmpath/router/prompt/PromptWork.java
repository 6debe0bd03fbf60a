package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.prompt.ReadRequest.Renamed;
import dev.warmpath.router.prompt.ReadingTime.NativeCalls;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The reading of one prompt: what has come of it and how long that took. An event loop may begin
 * it, and stops where it would take too long; then a thread of the pool goes on from there.
 *
 * <p>Confined to one thread at a time.
 */
final class PromptWork implements EncodeGuard, AutoCloseable {

  /*
   * What holds an event loop, and what bounds it:
   *
   *   step                        bound
   *   JSON                        LOOP_BODY_BYTES
   *   template, known text,       what such prompts took, LOOP_NANOS at most; a template that the
   *   hashes, choice of engine    request brings is the pool's
   *   native calls                what they took, together with the rest LOOP_NANOS at most, and
   *                               LOOP_NATIVE_CHARS for one, as nothing interrupts it
   *   images                      the pool's
   *   all prompts of a loop       LoopBudget
   */

  /** About how long a prompt may hold an event loop. */
  static final long LOOP_NANOS = 200_000;

  /** Up to here a body's JSON is parsed without a look at what is remembered, and so no lock. */
  static final int LOOP_BODY_BYTES = 8_192;

  /** At the native library's slowest, noise of three bytes a character, it takes 0.35 ms. */
  static final int LOOP_NATIVE_CHARS = 64;

  /** A body that was parsed. */
  record Parsed(ObjectNode tree, Set<String> models, @Nullable Renamed renamed) {}

  private final LongSupplier runningNanos;
  private final TreeRoom.Share share;
  private @Nullable Parsed parsed;
  private @Nullable ReadingTime cost;
  private boolean onLoop;
  private boolean goesOn = true;
  private long beganNanos;
  private long earlierNanos;
  private long callBeganNanos;
  private int calls;
  private long callChars;
  private long callNanos;

  private PromptWork(LongSupplier runningNanos, TreeRoom.Share share) {
    this.runningNanos = runningNanos;
    this.share = share;
    this.beganNanos = runningNanos.getAsLong();
  }

  /** Work that begins now, on a thread that may take its time. */
  static PromptWork begin(LongSupplier runningNanos, TreeRoom trees) {
    return new PromptWork(runningNanos, trees.share());
  }

  /** The same on an event loop. */
  static PromptWork beginOnLoop(LongSupplier runningNanos, TreeRoom trees) {
    PromptWork work = begin(runningNanos, trees);
    work.onLoop = true;
    return work;
  }

  /** It stops here, unless it has. */
  void stop() {
    earlierNanos += goesOn ? runningNanos.getAsLong() - beganNanos : 0;
    goesOn = false;
  }

  /** It goes on, on a thread that may take its time. */
  void goOn() {
    beganNanos = runningNanos.getAsLong();
    goesOn = true;
    onLoop = false;
  }

  /** It is done, the choice of an engine included: the cost of prompts like it is known better. */
  void done() {
    stop();
    if (cost != null) {
      long restNanos = earlierNanos - callNanos;
      cost.read(share.usedBytes(), restNanos, new NativeCalls(calls, callChars, callNanos));
    }
  }

  /** Nanoseconds until it stopped. */
  long nanos() {
    return earlierNanos;
  }

  /** Pays for the body's tree. */
  TreeRoom.Share share() {
    return share;
  }

  @Nullable Parsed parsed() {
    return parsed;
  }

  void parsed(Parsed body) {
    parsed = body;
  }

  /**
   * The body's prompt is about to be read with a tokenizer whose prompts cost that much.
   *
   * @throws TooMuchException if that takes too long here
   */
  void estimate(ObjectNode body, ReadingTime prompts) {
    cost = prompts;
    if (onLoop && (!prompts.isKnown() || restNanos() > LOOP_NANOS || bringsTemplate(body))) {
      throw new TooMuchException();
    }
  }

  /** What it takes besides native calls, about. */
  private double restNanos() {
    return cost == null ? 0 : cost.restNanos(share.usedBytes());
  }

  private static boolean bringsTemplate(ObjectNode body) {
    return body.hasNonNull("chat_template")
        || body.path("chat_template_kwargs").hasNonNull("chat_template");
  }

  @Override
  public void beforeText(int chars) {
    if (onLoop && chars >= IncrementalEncoder.BEGINNING_CHARS) {
      throw new TooMuchException();
    }
  }

  @Override
  public void beforeNative(int chars) {
    callBeganNanos = runningNanos.getAsLong();
    if (onLoop && (chars > LOOP_NATIVE_CHARS || nanosWith(chars) > LOOP_NANOS)) {
      throw new TooMuchException();
    }
    calls++;
    callChars += chars;
  }

  /** What it takes with one more native call, about, or has taken already. */
  private double nanosWith(int chars) {
    double next = cost == null ? 0 : cost.nativeNanos(chars);
    return next + Math.max(restNanos() + callNanos, (double) (callBeganNanos - beganNanos));
  }

  @Override
  public void beforeImages() {
    if (onLoop) {
      throw new TooMuchException();
    }
  }

  @Override
  public void afterNative() {
    callNanos += runningNanos.getAsLong() - callBeganNanos;
  }

  /** Gives the tree's room back. */
  @Override
  public void close() {
    share.close();
  }
}
