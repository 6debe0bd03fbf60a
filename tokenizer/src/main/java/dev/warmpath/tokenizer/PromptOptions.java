package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.TextEncoder;
import org.jspecify.annotations.Nullable;

/**
 * What a request says about its prompt besides the prompt itself.
 *
 * <p>Immutable.
 *
 * @param addSpecialTokens whether the tokenizer adds its BOS or EOS
 * @param readsCache false when the engine must compute every position of the prompt
 * @param singleChoice whether each prompt is one sequence to the engine, all its own work
 * @param cacheSalt the tenant's salt, or null
 * @param keepTokens how many tokens of the prompt are kept; {@link #ALL}, or {@link #ENGINE_CHOICE}
 *     when only the engine knows
 * @param keepFirst whether the first tokens are kept, not the last
 */
record PromptOptions(
    boolean addSpecialTokens,
    boolean readsCache,
    boolean singleChoice,
    @Nullable String cacheSalt,
    long keepTokens,
    boolean keepFirst) {

  static final long ALL = Long.MAX_VALUE;
  static final long ENGINE_CHOICE = -1;

  private static final int MAX_SALT_CHARACTERS = 128;

  /** Reads the options; what is wrong is left in {@code fields}. */
  static PromptOptions read(RequestKind kind, RequestFields fields) {
    return new PromptOptions(
        fields.flag("add_special_tokens", kind == RequestKind.COMPLETION),
        readsCache(kind, fields),
        singleChoice(fields),
        cacheSalt(fields),
        keepTokens(fields),
        keepFirst(fields));
  }

  /** Reads them where nothing can be added to the text or cut off. */
  static PromptOptions readWhole(RequestKind kind, RequestFields fields) {
    boolean reads = kind == RequestKind.MESSAGES || readsCache(kind, fields);
    boolean single =
        kind == RequestKind.MESSAGES ? !fields.has("kv_transfer_params") : singleChoice(fields);
    return new PromptOptions(false, reads, single, cacheSalt(fields), ALL, false);
  }

  /**
   * Reads them for a Responses request. The engine adds special tokens to its text, although the
   * template has put some there.
   */
  static PromptOptions readResponses(RequestFields fields) {
    boolean whole =
        fields.node("truncation").isMissingNode() || "disabled".equals(fields.text("truncation"));
    boolean single = !fields.has("kv_transfer_params");
    return new PromptOptions(
        true, true, single, cacheSalt(fields), whole ? ALL : ENGINE_CHOICE, false);
  }

  /**
   * The same with the engine's own limit, if that is known: the model's, less a token when the
   * request says how long its answer may be.
   */
  PromptOptions within(long maxModelTokens, RequestKind kind, RequestFields fields) {
    if (keepTokens != ENGINE_CHOICE || maxModelTokens == ModelOptions.UNKNOWN) {
      return this;
    }
    boolean limited =
        switch (kind) {
          case COMPLETION -> !isZero(fields.node("max_tokens"));
          case RESPONSES -> fields.has("max_output_tokens");
          case CHAT, MESSAGES -> fields.has("max_completion_tokens") || fields.has("max_tokens");
        };
    long keep = limited ? maxModelTokens - 1 : maxModelTokens;
    return new PromptOptions(
        addSpecialTokens, readsCache, singleChoice, cacheSalt, keep, keepFirst);
  }

  private static boolean isZero(JsonNode node) {
    return node.isIntegralNumber() && node.longValue() == 0;
  }

  /** Log probabilities of the prompt need every position computed, so nothing is reused. */
  private static boolean readsCache(RequestKind kind, RequestFields fields) {
    if (fields.has("prompt_logprobs") || fields.has("prompt_logprob_token_ids")) {
      return false;
    }
    boolean echo = fields.flag("echo", false);
    return !echo || !logprobsAsked(kind, fields);
  }

  /** An echo takes the prompt's log probabilities from the field for those of the answer. */
  private static boolean logprobsAsked(RequestKind kind, RequestFields fields) {
    if (kind == RequestKind.COMPLETION) {
      return fields.has("logprobs");
    }
    JsonNode top = fields.node("top_logprobs");
    return top.isMissingNode() || !top.isNull();
  }

  private static boolean singleChoice(RequestFields fields) {
    long choices = Math.max(fields.integer("n", 1), fields.integer("best_of", 1));
    boolean beams = fields.flag("use_beam_search", false);
    return choices == 1 && !beams && !fields.has("kv_transfer_params");
  }

  private static @Nullable String cacheSalt(RequestFields fields) {
    String salt = fields.text("cache_salt");
    if (salt == null) {
      return null;
    }
    boolean fits =
        !salt.isEmpty()
            && salt.codePointCount(0, salt.length()) <= MAX_SALT_CHARACTERS
            && salt.chars().noneMatch(c -> c == '@' || c == '/' || c == '\\' || c == 0)
            && TextEncoder.isWellFormed(salt);
    if (!fits) {
      fields.wrong("cache_salt", "1 to 128 characters without @ / \\ and NUL");
    }
    return salt;
  }

  private static long keepTokens(RequestFields fields) {
    long tokens = fields.integer("truncate_prompt_tokens", ALL);
    if (tokens < -1 || tokens == 0) {
      fields.wrong("truncate_prompt_tokens", "-1 or at least 1");
    }
    return tokens;
  }

  private static boolean keepFirst(RequestFields fields) {
    String side = fields.text("truncation_side");
    if (side != null && !side.equals("left") && !side.equals("right")) {
      fields.wrong("truncation_side", "left or right");
    }
    return "right".equals(side);
  }
}
