package dev.warmpath.router.security;

import dev.warmpath.router.security.ApiKeys.ApiKeyConfig;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * A client with an API key: what it may do, and what it has used. It outlives changes of the file
 * of keys.
 *
 * <p>Thread-safe.
 */
public final class ClientAccount {

  /** Whether a request may go on. */
  public enum Verdict {
    ADMITTED,
    TOO_MANY_REQUESTS,
    TOO_MANY_TOKENS,
    MODEL_FORBIDDEN
  }

  /**
   * An answer to a request, or to its prompt.
   *
   * @param retrySeconds when it may be tried again, at least 1; 0 if that would not help
   */
  public record Answer(Verdict verdict, int retrySeconds) {

    /** It may go on. */
    public static final Answer ADMITTED = new Answer(Verdict.ADMITTED, 0);

    /** It names no model, or one that is not allowed. */
    public static final Answer MODEL_FORBIDDEN = new Answer(Verdict.MODEL_FORBIDDEN, 0);

    public boolean isAdmitted() {
      return verdict == Verdict.ADMITTED;
    }

    private static Answer of(Verdict verdict, long waitNanos) {
      return new Answer(verdict, 1 + (int) TimeUnit.NANOSECONDS.toSeconds(waitNanos));
    }
  }

  /** What it has used so far. Immutable. */
  public record Counts(
      long admitted,
      long tooManyRequests,
      long tooManyTokens,
      long modelForbidden,
      long promptTokens,
      long answerTokens) {}

  private final String name;
  private final ClientRate requests;
  private final ClientRate tokens;
  private final LongAdder[] verdicts = new LongAdder[Verdict.values().length];
  private final LongAdder promptTokens = new LongAdder();
  private final LongAdder answerTokens = new LongAdder();
  private volatile ApiKeyConfig config;

  ClientAccount(ApiKeyConfig config, long nowNanos) {
    this.name = config.name();
    this.config = config;
    this.requests = new ClientRate(config.requestsPerMinute(), nowNanos);
    this.tokens = new ClientRate(config.tokensPerMinute(), nowNanos);
    for (int i = 0; i < verdicts.length; i++) {
      verdicts[i] = new LongAdder();
    }
  }

  void change(ApiKeyConfig changed, long nowNanos) {
    config = changed;
    requests.limit(changed.requestsPerMinute(), nowNanos);
    tokens.limit(changed.tokensPerMinute(), nowNanos);
  }

  /** Its name in metrics and logs. */
  public String name() {
    return name;
  }

  /** The lower, the earlier its requests leave the queue. */
  public int priority() {
    return config.priority();
  }

  /** Whether it may use {@code model}. */
  public boolean mayUse(String model) {
    List<String> models = config.models();
    return models.isEmpty() || models.contains(model);
  }

  /**
   * Whether it may use all {@code models}; one that may not use all there are must name one.
   *
   * @param models asked only if that matters
   */
  public boolean mayUseAll(Supplier<? extends Collection<String>> models) {
    if (config.models().isEmpty()) {
      return true;
    }
    Collection<String> named = models.get();
    boolean may = !named.isEmpty() && named.stream().allMatch(this::mayUse);
    if (!may) {
      verdicts[Verdict.MODEL_FORBIDDEN.ordinal()].increment();
    }
    return may;
  }

  /** Takes one request, and refuses it if too many, or too many tokens, were taken. */
  public Answer request(long nowNanos) {
    long wait = tokens.take(0, 1, nowNanos);
    if (wait > 0) {
      return refused(Verdict.TOO_MANY_TOKENS, wait);
    }
    wait = requests.take(1, 1, nowNanos);
    return wait > 0 ? refused(Verdict.TOO_MANY_REQUESTS, wait) : Answer.ADMITTED;
  }

  /**
   * Takes a prompt's tokens, and refuses it if too many were taken.
   *
   * @param promptLength in tokens, estimated if they are not known
   */
  public Answer prompt(int promptLength, long nowNanos) {
    long wait = tokens.take(promptLength, 1, nowNanos);
    if (wait > 0) {
      return refused(Verdict.TOO_MANY_TOKENS, wait);
    }
    verdicts[Verdict.ADMITTED.ordinal()].increment();
    promptTokens.add(promptLength);
    return Answer.ADMITTED;
  }

  private Answer refused(Verdict verdict, long waitNanos) {
    verdicts[verdict.ordinal()].increment();
    return Answer.of(verdict, waitNanos);
  }

  /** An admitted request is over: what it used beyond what was counted, or less. */
  public void settleUsage(int morePromptTokens, int answerLength, long nowNanos) {
    tokens.settle((double) morePromptTokens + answerLength, nowNanos);
    promptTokens.add(morePromptTokens);
    answerTokens.add(answerLength);
  }

  /** It has used so much at another router, or less than that one thought. */
  public void countElsewhere(long admitted, long tokenCount, long nowNanos) {
    requests.settle((double) admitted, nowNanos);
    tokens.settle((double) tokenCount, nowNanos);
  }

  /** What it has used so far, here. */
  public Counts counts() {
    return new Counts(
        count(Verdict.ADMITTED),
        count(Verdict.TOO_MANY_REQUESTS),
        count(Verdict.TOO_MANY_TOKENS),
        count(Verdict.MODEL_FORBIDDEN),
        promptTokens.sum(),
        answerTokens.sum());
  }

  private long count(Verdict verdict) {
    return verdicts[verdict.ordinal()].sum();
  }

  /**
   * A rate that may be exceeded for a moment: what one minute brings can be used at once. Something
   * that turns out larger than what is left makes debts, which pass with time.
   *
   * <p>Thread-safe.
   */
  private static final class ClientRate {

    private static final double NANOS_PER_MINUTE = TimeUnit.MINUTES.toNanos(1);

    private int perMinute;
    private double level;
    private long filledNanos;

    /**
     * A full bucket.
     *
     * @param perMinute 0 for any number
     */
    ClientRate(int perMinute, long nowNanos) {
      this.perMinute = perMinute;
      this.level = perMinute;
      this.filledNanos = nowNanos;
    }

    /** Another rate from now on; what was used stays used. */
    synchronized void limit(int newPerMinute, long nowNanos) {
      fill(nowNanos);
      level = perMinute == 0 ? newPerMinute : Math.min(newPerMinute, level);
      perMinute = newPerMinute;
    }

    /**
     * Takes {@code amount} if at least {@code least} is there.
     *
     * @return nanoseconds until {@code least} is there; 0 if it was taken
     */
    synchronized long take(double amount, double least, long nowNanos) {
      if (perMinute == 0) {
        return 0;
      }
      fill(nowNanos);
      double missing = least - level;
      if (missing > 0) {
        return 1 + (long) (missing / perMinute * NANOS_PER_MINUTE);
      }
      level -= amount;
      return 0;
    }

    /** Takes {@code amount}, or gives it back if it is negative. */
    synchronized void settle(double amount, long nowNanos) {
      if (perMinute != 0) {
        fill(nowNanos);
        level = Math.min(perMinute, level - amount);
      }
    }

    private void fill(long nowNanos) {
      double earned = (nowNanos - filledNanos) / NANOS_PER_MINUTE * perMinute;
      level = Math.min(perMinute, level + earned);
      filledNanos = nowNanos;
    }
  }
}
