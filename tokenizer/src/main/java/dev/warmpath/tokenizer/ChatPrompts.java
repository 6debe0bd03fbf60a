package dev.warmpath.tokenizer;

import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Reason;
import dev.warmpath.tokenizer.anthropic.MessagesTexts;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatPrompt;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.responses.ResponsesTexts;
import dev.warmpath.tokenizer.sglang.SglangRenderer;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import java.util.Map;

/**
 * The chats of one model, or the reason why it renders none.
 *
 * <p>Thread-safe.
 */
sealed interface ChatPrompts {

  /** Requests of these kinds are rendered. */
  record Rendered(Map<RequestKind, ChatTexts> byKind) implements ChatPrompts {
    public Rendered {
      byKind = Map.copyOf(byKind);
    }
  }

  /** No chat of this model is rendered here. */
  record None(Inexact why) implements ChatPrompts {}

  /** What these files allow. */
  static ChatPrompts of(ModelFiles files, ChatOptions options) {
    if (files.rendersChatInCode()) {
      return none(Reason.UNSUPPORTED_MODEL, "the engine renders this model in code of its own");
    }
    Map<String, String> sources = sources(files, options);
    if (sources.isEmpty()) {
      return none(Reason.NO_TEMPLATE, "the model has no chat template");
    }
    if (options.dialect() == ChatOptions.Dialect.MIXED) {
      return none(Reason.UNSUPPORTED_MODEL, "engines of several kinds serve the model");
    }
    boolean sglang = options.dialect() == ChatOptions.Dialect.SGLANG;
    if (sglang && sources.containsKey(ChatRenderer.PROCESSOR)) {
      return none(Reason.TEMPLATE_UNSUPPORTED, "SGLang with a multimodal processor's template");
    }
    try {
      return new Rendered(byKind(sources, files.specialTokens(), options));
    } catch (TemplateException e) {
      Reason reason =
          e.kind() == TemplateException.Kind.SYNTAX
              ? Reason.TEMPLATE_ERROR
              : Reason.TEMPLATE_UNSUPPORTED;
      return none(reason, "the template cannot be parsed: " + e.getMessage());
    }
  }

  /** The model's templates, or the one that the engine was given instead of them all. */
  private static Map<String, String> sources(ModelFiles files, ChatOptions options) {
    String file = options.templates().file();
    return file == null ? files.templates() : Map.of("default", file);
  }

  private static Map<RequestKind, ChatTexts> byKind(
      Map<String, String> sources, Map<String, ?> specialTokens, ChatOptions options) {
    if (options.dialect() == ChatOptions.Dialect.SGLANG) {
      return Map.of(RequestKind.CHAT, SglangRenderer.of(sources, specialTokens, options));
    }
    ChatRenderer chats = ChatRenderer.of(sources, specialTokens, options);
    return Map.of(
        RequestKind.CHAT, chats,
        RequestKind.MESSAGES, new MessagesTexts(chats),
        RequestKind.RESPONSES, new ResponsesTexts(chats));
  }

  /** The reason for a single chat, in this package's words. */
  static Inexact refusal(ChatPrompt.Refused refused) {
    Reason reason =
        switch (refused.reason()) {
          case NO_TEMPLATE -> Reason.NO_TEMPLATE;
          case TEMPLATE_ERROR -> Reason.TEMPLATE_ERROR;
          case TEMPLATE_UNSUPPORTED -> Reason.TEMPLATE_UNSUPPORTED;
          case REQUEST_TEMPLATE -> Reason.REQUEST_TEMPLATE;
          case MULTIMODAL -> Reason.MULTIMODAL;
          case STORED_HISTORY -> Reason.STORED_HISTORY;
          case PROMPT_EMBEDS -> Reason.PROMPT_EMBEDS;
          case INVALID_REQUEST -> Reason.INVALID_REQUEST;
        };
    return new Inexact(reason, refused.detail());
  }

  private static None none(Reason reason, String detail) {
    return new None(new Inexact(reason, detail));
  }
}
