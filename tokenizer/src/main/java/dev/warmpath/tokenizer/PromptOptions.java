package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.TextEncoder;
import org.jspecify.annotations.Nullable;

/**
 * What a request says about its prompt besides the prompt itself.
 *
 * @param addSpecialTokens whether the tokenizer adds its BOS or EOS
 * @param readsCache false when the engine must compute every position of the prompt
 * @param singleChoice whether each prompt is one sequence to the engine, all its own work
 * @param cacheSalt the tenant's salt, or null
 * @param keepTokens how many tokens of the prompt are kept; {@link #ALL}, or {@link #ENGINE_CHOICE}
 *     when only the engine knows
 * @param keepFirst whether the first tokens are kept, not the last
 * @param cutKnown false when releases of the engine cut a longer prompt to different lengths
 */
record PromptOptions(
    boolean addSpecialTokens,
    boolean readsCache,
    boolean singleChoice,
    @Nullable String cacheSalt,
    long keepTokens,
    boolean keepFirst,
    boolean cutKnown) {

  static final long ALL = Long.MAX_VALUE;
  static final long ENGINE_CHOICE = -1;

  private static final int MAX_SALT_CHARACTERS = 128;

  /**
   * Reads the options.
   *
   * @throws InexactPromptException for fields of the wrong type or value
   */
  static PromptOptions read(RequestKind kind, ObjectNode body) {
    return new PromptOptions(
        Fields.flag(body, "add_special_tokens", kind == RequestKind.COMPLETION),
        readsCache(kind, body),
        singleChoice(body),
        cacheSalt(body),
        keepTokens(body),
        keepFirst(body),
        true);
  }

  /** Reads them where nothing can be added to the text or cut off. */
  static PromptOptions readWhole(RequestKind kind, ObjectNode body) {
    boolean reads = kind == RequestKind.MESSAGES || readsCache(kind, body);
    boolean single =
        kind == RequestKind.MESSAGES ? !body.hasNonNull("kv_transfer_params") : singleChoice(body);
    return new PromptOptions(false, reads, single, cacheSalt(body), ALL, false, true);
  }

  /**
   * Reads them for a Responses request. The engine adds special tokens to its text, although the
   * template has put some there.
   */
  static PromptOptions readResponses(ObjectNode body) {
    boolean whole =
        body.path("truncation").isMissingNode()
            || "disabled".equals(Fields.text(body, "truncation"));
    boolean single = !body.hasNonNull("kv_transfer_params");
    return new PromptOptions(
        true, true, single, cacheSalt(body), whole ? ALL : ENGINE_CHOICE, false, true);
  }

  /**
   * The same for texts that hold their special tokens, so that none is added; except in responses
   * none is cut off.
   */
  PromptOptions withSpecials(RequestKind kind) {
    long keep = kind == RequestKind.RESPONSES ? keepTokens : ALL;
    return new PromptOptions(false, readsCache, singleChoice, cacheSalt, keep, keepFirst, true);
  }

  /**
   * The same with the engine's own limit, if that is known: the model's, less a token. vLLM before
   * 0.33 leaves the token when the request does not say how long its answer may be.
   */
  PromptOptions within(long maxModelTokens, RequestKind kind, ObjectNode body) {
    if (keepTokens != ENGINE_CHOICE || maxModelTokens == ModelOptions.UNKNOWN) {
      return this;
    }
    boolean limited =
        switch (kind) {
          case COMPLETION -> !isZero(body.path("max_tokens"));
          case RESPONSES -> body.hasNonNull("max_output_tokens");
          case CHAT, MESSAGES ->
              body.hasNonNull("max_completion_tokens") || body.hasNonNull("max_tokens");
        };
    return new PromptOptions(
        addSpecialTokens,
        readsCache,
        singleChoice,
        cacheSalt,
        maxModelTokens - 1,
        keepFirst,
        limited);
  }

  private static boolean isZero(JsonNode node) {
    return node.isIntegralNumber() && node.longValue() == 0;
  }

  /** Log probabilities of the prompt need every position computed, so nothing is reused. */
  private static boolean readsCache(RequestKind kind, ObjectNode body) {
    if (body.hasNonNull("prompt_logprobs") || body.hasNonNull("prompt_logprob_token_ids")) {
      return false;
    }
    boolean echo = Fields.flag(body, "echo", false);
    return !echo || !logprobsAsked(kind, body);
  }

  /** An echo takes the prompt's log probabilities from the field for those of the answer. */
  private static boolean logprobsAsked(RequestKind kind, ObjectNode body) {
    if (kind == RequestKind.COMPLETION) {
      return body.hasNonNull("logprobs");
    }
    JsonNode top = body.path("top_logprobs");
    return top.isMissingNode() || !top.isNull();
  }

  /**
   * Whether the request limits what an offloading connector of vLLM loads for it. By how much the
   * hit shrinks depends on the connector's own sizes.
   */
  static boolean limitsLoads(ObjectNode body) {
    JsonNode transfer = body.path("kv_transfer_params");
    return transfer.hasNonNull("max_load_tokens") || transfer.hasNonNull("kv_load_tiers");
  }

  private static boolean singleChoice(ObjectNode body) {
    long choices = Math.max(Fields.integer(body, "n", 1), Fields.integer(body, "best_of", 1));
    boolean beams = Fields.flag(body, "use_beam_search", false);
    return choices == 1 && !beams && !body.hasNonNull("kv_transfer_params");
  }

  private static @Nullable String cacheSalt(ObjectNode body) {
    String salt = Fields.text(body, "cache_salt");
    if (salt == null) {
      return null;
    }
    boolean fits =
        !salt.isEmpty()
            && salt.codePointCount(0, salt.length()) <= MAX_SALT_CHARACTERS
            && salt.chars().noneMatch(c -> c == '@' || c == '/' || c == '\\' || c == 0)
            && TextEncoder.isWellFormed(salt);
    Fields.require(fits, "cache_salt", "1 to 128 characters without @ / \\ and NUL");
    return salt;
  }

  private static long keepTokens(ObjectNode body) {
    long tokens = Fields.integer(body, "truncate_prompt_tokens", ALL);
    Fields.require(tokens == -1 || tokens >= 1, "truncate_prompt_tokens", "-1 or at least 1");
    return tokens;
  }

  private static boolean keepFirst(ObjectNode body) {
    String side = Fields.text(body, "truncation_side");
    boolean known = side == null || side.equals("left") || side.equals("right");
    Fields.require(known, "truncation_side", "left or right");
    return "right".equals(side);
  }
}
