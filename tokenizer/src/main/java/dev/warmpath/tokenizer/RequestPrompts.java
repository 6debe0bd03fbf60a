package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Reason;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatPrompt;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests for one model: each becomes the text or the token ids that the engine takes its
 * prompt from, with what the request says about them.
 *
 * <p>Thread-safe.
 */
final class RequestPrompts {

  private final ChatPrompts chats;
  private final Dialect dialect;
  private final long maxModelTokens;
  private final int maxTokenId;

  private RequestPrompts(ChatPrompts chats, ModelOptions options, int maxTokenId) {
    this.chats = chats;
    this.dialect = options.chat().dialect();
    this.maxModelTokens = options.maxModelTokens();
    this.maxTokenId = maxTokenId;
  }

  static RequestPrompts of(ModelFiles files, ModelOptions options) {
    int maxTokenId = Math.max(files.tokenizer().maxTokenId(), files.modelMaxTokenId());
    return new RequestPrompts(ChatPrompts.of(files, options.chat()), options, maxTokenId);
  }

  /** The largest token id that the engine takes. */
  int maxTokenId() {
    return maxTokenId;
  }

  RequestPrompt read(RequestKind kind, ObjectNode body, @Nullable String loraName) {
    RequestFields fields = new RequestFields(body);
    PromptOptions options = options(kind, fields).within(maxModelTokens, kind, fields);
    String problem = fields.problem();
    if (problem != null) {
      return refused(Reason.INVALID_REQUEST, problem);
    }
    String hidden = HiddenNamespace.of(body);
    if (hidden != null) {
      return refused(Reason.HIDDEN_NAMESPACE, hidden);
    }
    PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
    return kind == RequestKind.COMPLETION
        ? completion(fields, options, keys)
        : chat(kind, body, options, keys);
  }

  private PromptOptions options(RequestKind kind, RequestFields fields) {
    boolean sglang = dialect == Dialect.SGLANG && kind != RequestKind.COMPLETION;
    if (sglang || kind == RequestKind.MESSAGES) {
      return PromptOptions.readWhole(kind, fields);
    }
    return kind == RequestKind.RESPONSES
        ? PromptOptions.readResponses(fields)
        : PromptOptions.read(kind, fields);
  }

  private RequestPrompt chat(
      RequestKind kind, ObjectNode body, PromptOptions options, PromptKeys keys) {
    if (body.path("kv_transfer_params").hasNonNull("prompt_token_ids")) {
      return refused(Reason.KV_TRANSFER, "kv_transfer_params has prompt_token_ids");
    }
    if (chats instanceof ChatPrompts.None none) {
      return new RequestPrompt.Refused(none.why());
    }
    ChatTexts texts = ((ChatPrompts.Rendered) chats).byKind().get(kind);
    if (texts == null) {
      return refused(Reason.UNSUPPORTED_MODEL, "how this engine reads the route is not known here");
    }
    ChatPrompt prompt = texts.render(body);
    if (prompt instanceof ChatPrompt.Rendered rendered) {
      return new RequestPrompt.Texts(List.of(rendered.text()), options, keys);
    }
    return new RequestPrompt.Refused(ChatPrompts.refusal((ChatPrompt.Refused) prompt));
  }

  private RequestPrompt completion(RequestFields fields, PromptOptions options, PromptKeys keys) {
    if (fields.has("prompt_embeds")) {
      return refused(Reason.PROMPT_EMBEDS, "prompt_embeds is given");
    }
    CompletionPrompt prompt = CompletionPrompt.read(fields.node("prompt"), maxTokenId);
    if (prompt instanceof CompletionPrompt.Texts texts) {
      return new RequestPrompt.Texts(texts.texts(), options, keys);
    }
    if (prompt instanceof CompletionPrompt.TokenIds ids) {
      return new RequestPrompt.TokenIds(ids.sequences(), options, keys);
    }
    return new RequestPrompt.Refused(((CompletionPrompt.Refused) prompt).why());
  }

  private static RequestPrompt refused(Reason reason, String detail) {
    return new RequestPrompt.Refused(new Inexact(reason, detail));
  }
}
