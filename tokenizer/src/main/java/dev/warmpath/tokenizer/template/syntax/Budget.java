package dev.warmpath.tokenizer.template.syntax;

import java.util.concurrent.CancellationException;

/**
 * What is left of one render's {@link TemplateLimits}. It ends as well when the thread is
 * interrupted, which is how who waits for a render gives it up.
 *
 * <p>Confined to the thread of its render.
 */
public final class Budget {
  private static final int STEP = 16;
  private static final int SCANNED_PER_STEP = 16;

  /** Once in so many steps, as a power of two, the thread is asked whether it is interrupted. */
  private static final int LOOK_SHIFT = 14;

  private final TemplateLimits limits;
  private long stepsLeft;
  private int depthLeft;

  public Budget(TemplateLimits limits) {
    this.limits = limits;
    this.stepsLeft = limits.steps();
    this.depthLeft = limits.depth();
  }

  /** One loop turn or call. */
  public void step() {
    built(STEP);
  }

  /** So many elements were made: each weighs as much as many characters. */
  public void elements(long count) {
    built(count < 0 ? count : Math.min(count, Long.MAX_VALUE / STEP) * STEP);
  }

  /** So many characters were made. */
  public void built(long count) {
    if (count < 0) {
      throw new IllegalArgumentException("count=" + count);
    }
    long before = stepsLeft;
    stepsLeft = count > before ? -1 : before - count;
    boolean looks = before >> LOOK_SHIFT != stepsLeft >> LOOK_SHIFT;
    if (looks && Thread.currentThread().isInterrupted()) {
      throw new CancellationException("the render was given up");
    }
    if (stepsLeft < 0) {
      throw TemplateException.limit("more than " + limits.steps() + " steps");
    }
  }

  /** So many characters or elements were looked at. */
  public void scanned(long count) {
    built(count < 0 ? count : count / SCANNED_PER_STEP + 1);
  }

  /** Text of this length is about to be made in one piece. */
  public void text(long chars) {
    if (chars > limits.outputChars()) {
      throw TemplateException.limit("text longer than " + limits.outputChars());
    }
    built(chars);
  }

  /** The output has grown to this length. */
  public void output(int chars) {
    if (chars > limits.outputChars()) {
      throw TemplateException.limit("output longer than " + limits.outputChars());
    }
  }

  public void enter(int levels) {
    depthLeft -= levels;
    if (depthLeft < 0) {
      depthLeft += levels;
      throw TemplateException.limit("nested deeper than " + limits.depth());
    }
  }

  public void leave(int levels) {
    depthLeft += levels;
  }
}
