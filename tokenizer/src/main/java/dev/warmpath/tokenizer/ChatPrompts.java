package dev.warmpath.tokenizer;

import dev.warmpath.tokenizer.apis.MessagesTexts;
import dev.warmpath.tokenizer.apis.ResponsesTexts;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.chat.TemplateError;
import dev.warmpath.tokenizer.deepseek.DeepSeekChats;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.harmony.HarmonyChats;
import dev.warmpath.tokenizer.harmony.HarmonyResponses;
import dev.warmpath.tokenizer.sglang.SglangRenderer;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The chats of one model, by the kind of request. */
final class ChatPrompts {

  private ChatPrompts() {}

  /** What these files allow; for kinds that cannot be rendered no chat is exact. */
  static Map<RequestKind, ChatTexts> of(ModelFiles files, ChatOptions options) {
    Map<RequestKind, ChatTexts> texts = new EnumMap<>(RequestKind.class);
    ChatTexts others =
        ChatTexts.inexact(
            FallbackCause.UNSUPPORTED_MODEL, "how this engine reads the route is not known here");
    try {
      texts.putAll(rendered(files, options));
    } catch (InexactPromptException e) {
      others = ChatTexts.inexact(e.fallbackCause(), e.detail());
    }
    for (RequestKind kind : RequestKind.values()) {
      texts.putIfAbsent(kind, others);
    }
    return texts;
  }

  private static Map<RequestKind, ChatTexts> rendered(ModelFiles files, ChatOptions options) {
    if (DeepSeekChats.knows(files.architecture()) && options.dialect() == Dialect.VLLM) {
      return byKind(DeepSeekChats.of(files.architecture(), options));
    }
    if (HarmonyChats.fits(files) && options.dialect() == Dialect.VLLM) {
      HarmonyChats chats = new HarmonyChats(options, templates(files, options));
      Map<RequestKind, ChatTexts> texts = new EnumMap<>(byKind(chats));
      texts.put(RequestKind.RESPONSES, new HarmonyResponses(options));
      return texts;
    }
    if (files.rendersChatInCode()) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "the engine renders this model in code of its own");
    }
    Map<String, String> sources = sources(files, options);
    if (sources.isEmpty()) {
      throw new InexactPromptException(FallbackCause.NO_TEMPLATE, "the model has no chat template");
    }
    if (options.dialect() == Dialect.MIXED) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "engines of several kinds serve the model");
    }
    boolean sglang = options.dialect() == Dialect.SGLANG;
    if (sglang && hasSeveral(sources)) {
      throw new InexactPromptException(
          FallbackCause.TEMPLATE_UNSUPPORTED, "SGLang with a multimodal processor's template");
    }
    try {
      return byKind(sources, files.specialTokens(), options);
    } catch (TemplateException e) {
      throw TemplateError.inexact(e);
    }
  }

  /** Whether SGLang's tokenizer and the processor, whose template it may take, have others. */
  private static boolean hasSeveral(Map<String, String> sources) {
    String processor = sources.get(ChatRenderer.PROCESSOR);
    return processor != null && (sources.size() > 2 || !processor.equals(sources.get("default")));
  }

  /** What the engine tries late system messages on, even if it renders nothing by it. */
  private static List<ChatTemplate> templates(ModelFiles files, ChatOptions options) {
    try {
      return ChatRenderer.of(sources(files, options), files.specialTokens(), options).templates();
    } catch (TemplateException e) {
      return List.of();
    }
  }

  /** The model's templates, or the one that the engine was given instead of them all. */
  private static Map<String, String> sources(ModelFiles files, ChatOptions options) {
    String file = options.templates().file();
    return file == null ? files.templates() : Map.of("default", file);
  }

  private static Map<RequestKind, ChatTexts> byKind(
      Map<String, String> sources, Map<String, ?> specialTokens, ChatOptions options) {
    if (options.dialect() == Dialect.SGLANG) {
      return Map.of(RequestKind.CHAT, SglangRenderer.of(sources, specialTokens, options));
    }
    return byKind(ChatRenderer.of(sources, specialTokens, options));
  }

  private static Map<RequestKind, ChatTexts> byKind(ModelChats chats) {
    return Map.of(
        RequestKind.CHAT, chats,
        RequestKind.MESSAGES, new MessagesTexts(chats),
        RequestKind.RESPONSES, new ResponsesTexts(chats));
  }
}
