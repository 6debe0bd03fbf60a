package dev.warmpath.tokenizer.template.syntax;

/**
 * How much one render may do before it is stopped.
 *
 * @param outputChars UTF-16 units of output
 * @param steps characters built or searched (16 searched count as one), loop turns, calls and
 *     elements (each counts as 16)
 * @param depth nested calls, each counted with the height of what it runs
 */
public record TemplateLimits(int outputChars, long steps, int depth) {

  /** 32 Mi characters of output, 128 Mi steps, depth 2000. */
  public static final TemplateLimits DEFAULT = new TemplateLimits(32 << 20, 128L << 20, 2000);

  public TemplateLimits {
    if (outputChars < 1) {
      throw new IllegalArgumentException("outputChars=" + outputChars);
    }
    if (steps < 1) {
      throw new IllegalArgumentException("steps=" + steps);
    }
    if (depth < 1) {
      throw new IllegalArgumentException("depth=" + depth);
    }
  }
}
