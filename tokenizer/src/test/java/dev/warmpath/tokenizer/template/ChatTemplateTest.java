package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChatTemplateTest {
  private static final String CHATML =
      """
      {%- for message in messages %}
          {{- '<|im_start|>' + message.role + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
      {%- endfor %}
      {%- if add_generation_prompt %}
          {{- '<|im_start|>assistant\\n' }}
      {%- endif %}
      """;

  @Test
  void rendersAChat() {
    Map<String, Object> chat =
        Map.of(
            "messages",
            List.of(
                Map.of("role", "system", "content", "Be brief."),
                Map.of("role", "user", "content", "Hi")),
            "add_generation_prompt",
            true);

    assertThat(ChatTemplate.parse(CHATML).render(chat))
        .isEqualTo(
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                + "<|im_start|>assistant\n");
  }

  @Test
  void tellsTheTimeOfItsClock() {
    Clock clock = Clock.fixed(Instant.parse("2026-01-15T23:34:56Z"), ZoneId.of("Asia/Tokyo"));

    ChatTemplate template =
        ChatTemplate.parse(
            "{{ strftime_now('%Y-%m-%d %H:%M %d %b %-d %A %p') }}", clock, TemplateLimits.DEFAULT);

    assertThat(template.render(Map.of())).isEqualTo("2026-01-16 08:34 16 Jan 16 Friday AM");
  }

  @Test
  void errorsNameTheLine() {
    ChatTemplate template = ChatTemplate.parse("a\nb\n{% if x %}\n{{ y.z }}\n{% endif %}");

    assertThatThrownBy(() -> template.render(Map.of("x", true)))
        .isInstanceOf(TemplateException.class)
        .hasMessage("line 4: 'y' is undefined");
    assertThatThrownBy(() -> ChatTemplate.parse("a\n{{ 1 + }}"))
        .isInstanceOf(TemplateException.class)
        .hasMessageStartingWith("line 2: ");
  }

  @Test
  void namesItsVariables() {
    ChatTemplate template =
        ChatTemplate.parse("{% set ns = namespace(a=1) %}{% if think %}{{ bos_token }}{% endif %}");

    assertThat(template.variables()).contains("think", "bos_token").doesNotContain("namespace");
    assertThat(template.mentions("bos_")).isTrue();
    assertThat(template.mentions("eos_")).isFalse();
  }
}
