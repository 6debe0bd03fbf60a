package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests for one model: each becomes the text or the token ids that the engine takes its
 * prompt from, with what the request says about them.
 *
 * <p>Thread-safe.
 */
final class RequestPrompts {

  private final Map<RequestKind, ChatTexts> chats;
  private final Dialect dialect;
  private final long maxModelTokens;
  private final int maxTokenId;

  private RequestPrompts(Map<RequestKind, ChatTexts> chats, ModelOptions options, int maxTokenId) {
    this.chats = chats;
    this.dialect = options.chat().dialect();
    this.maxModelTokens = options.maxModelTokens();
    this.maxTokenId = maxTokenId;
  }

  static RequestPrompts of(ModelFiles files, ModelOptions options) {
    int maxTokenId = Math.max(files.tokenizer().maxTokenId(), files.modelMaxTokenId());
    return new RequestPrompts(ChatPrompts.of(files, options.chat()), options, maxTokenId);
  }

  /** The special tokens that texts of chats hold, none if they hold none. */
  int[] specialIds() {
    return chats.values().stream()
        .map(ChatTexts::specialIds)
        .filter(ids -> ids.length > 0)
        .findFirst()
        .orElse(ChatTexts.NO_SPECIALS);
  }

  /** Whether texts of this kind hold placeholders for special tokens. */
  boolean hasSpecials(RequestKind kind) {
    return kind != RequestKind.COMPLETION && texts(kind).specialIds().length > 0;
  }

  /** The largest token id that the engine takes. */
  int maxTokenId() {
    return maxTokenId;
  }

  /**
   * What the engine takes the request's prompt from.
   *
   * @throws InexactPromptException if that is not known here
   */
  RequestPrompt read(RequestKind kind, ObjectNode body, @Nullable String loraName) {
    PromptOptions options = options(kind, body).within(maxModelTokens, kind, body);
    HiddenNamespace.check(body);
    PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
    PromptContent content = kind == RequestKind.COMPLETION ? completion(body) : chat(kind, body);
    return new RequestPrompt(content, options, keys);
  }

  private PromptOptions options(RequestKind kind, ObjectNode body) {
    PromptOptions options = ofTexts(kind, body);
    return hasSpecials(kind) ? options.withSpecials(kind) : options;
  }

  private PromptOptions ofTexts(RequestKind kind, ObjectNode body) {
    boolean sglang = dialect == Dialect.SGLANG && kind != RequestKind.COMPLETION;
    if (sglang || kind == RequestKind.MESSAGES) {
      return PromptOptions.readWhole(kind, body);
    }
    return kind == RequestKind.RESPONSES
        ? PromptOptions.readResponses(body)
        : PromptOptions.read(kind, body);
  }

  private PromptContent chat(RequestKind kind, ObjectNode body) {
    if (body.path("kv_transfer_params").hasNonNull("prompt_token_ids")) {
      throw new InexactPromptException(
          FallbackCause.KV_TRANSFER, "kv_transfer_params has prompt_token_ids");
    }
    String text = texts(kind).render(body);
    return hasSpecials(kind)
        ? new PromptContent.WithSpecials(text)
        : new PromptContent.Texts(List.of(text));
  }

  private ChatTexts texts(RequestKind kind) {
    return Objects.requireNonNull(chats.get(kind));
  }

  private PromptContent completion(ObjectNode body) {
    if (body.hasNonNull("prompt_embeds")) {
      throw new InexactPromptException(FallbackCause.PROMPT_EMBEDS, "prompt_embeds is given");
    }
    if (!body.path("suffix").asText("").isEmpty()) {
      throw new InexactPromptException(
          FallbackCause.INVALID_REQUEST, "suffix: the engine places it its own way");
    }
    return PromptContent.read(body.path("prompt"), maxTokenId);
  }
}
