package dev.warmpath.tokenizer.apis;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ModelChats;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the engine finds out about a model's templates by trying them. */
final class Probes {
  private static final List<String> EFFORTS = List.of("low", "medium", "high", "xhigh", "max");

  /** A system message that is not the first, which some templates do not take. */
  private static final Map<String, Object> LATE_SYSTEM =
      Map.of(
          "messages",
          List.of(message("system"), message("user"), message("system"), message("user")),
          "add_generation_prompt",
          false);

  private final @Nullable Boolean mergesSystem;
  private final @Nullable String disabledEffort;

  private Probes(@Nullable Boolean mergesSystem, @Nullable String disabledEffort) {
    this.mergesSystem = mergesSystem;
    this.disabledEffort = disabledEffort;
  }

  static Probes of(ModelChats chats) {
    List<ChatTemplate> templates = chats.templates();
    Boolean merges = templates.isEmpty() ? Boolean.TRUE : mergesSystem(templates);
    return new Probes(merges, disabledEffort(chats));
  }

  private static Map<String, String> message(String role) {
    return Map.of("role", role, "content", "t");
  }

  /** Whether system messages behind the first are merged into it. */
  boolean mergesSystem() {
    if (mergesSystem == null) {
      throw unknown();
    }
    return mergesSystem;
  }

  /** The effort of a request that disables thinking. */
  String disabledEffort() {
    if (disabledEffort == null) {
      throw unknown();
    }
    return disabledEffort;
  }

  private static InexactPromptException unknown() {
    return new InexactPromptException(
        FallbackCause.TEMPLATE_UNSUPPORTED, "what the engine finds out by a probe is not known");
  }

  private static @Nullable Boolean mergesSystem(List<ChatTemplate> templates) {
    boolean merges = false;
    for (ChatTemplate template : templates) {
      try {
        template.renderStock(LATE_SYSTEM);
      } catch (TemplateException e) {
        boolean fails =
            e.kind() == TemplateException.Kind.RAISED || e.kind() == TemplateException.Kind.SYNTAX;
        if (!fails) {
          return null;
        }
        merges = true;
      }
    }
    return merges;
  }

  private static @Nullable String disabledEffort(ModelChats chats) {
    try {
      String none = tried(chats, "none");
      boolean low = none == null || EFFORTS.stream().anyMatch(e -> none.equals(tried(chats, e)));
      return low ? "low" : "none";
    } catch (InexactPromptException e) {
      return null;
    }
  }

  /** The text with this effort; null if the engine refuses it. */
  private static @Nullable String tried(ModelChats chats, String effort) {
    try {
      return chats.render(body(effort));
    } catch (InexactPromptException e) {
      if (e.fallbackCause() == FallbackCause.TEMPLATE_ERROR
          || e.fallbackCause() == FallbackCause.INVALID_REQUEST) {
        return null;
      }
      throw e;
    }
  }

  private static ObjectNode body(String effort) {
    ObjectNode body = JsonNodeFactory.instance.objectNode().put("reasoning_effort", effort);
    body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
    return body;
  }
}
