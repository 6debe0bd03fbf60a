package dev.warmpath.router.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.security.ApiKeys.ApiKeyConfig;
import dev.warmpath.router.security.ClientAccount.Verdict;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClientAccountTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void requestsBeyondTheRateAreRefusedUntilTheyAreEarned() {
    ClientAccount client = client(2, 0);
    assertThat(client.request(0).isAdmitted()).isTrue();
    assertThat(client.request(0).isAdmitted()).isTrue();
    ClientAccount.Answer third = client.request(0);
    assertThat(third.verdict()).isEqualTo(Verdict.TOO_MANY_REQUESTS);
    assertThat(third.retrySeconds()).isBetween(30, 31);
    assertThat(client.request(29 * SECOND).isAdmitted()).isFalse();
    assertThat(client.request(31 * SECOND).isAdmitted()).isTrue();
    assertThat(client.request(31 * SECOND).isAdmitted()).isFalse();
    assertThat(client.counts().tooManyRequests()).isEqualTo(3);
  }

  @Test
  void aMinutesRateIsTheMostThatCanBeSaved() {
    ClientAccount client = client(2, 0);
    long later = 1_000 * SECOND;
    assertThat(client.request(later).isAdmitted()).isTrue();
    assertThat(client.request(later).isAdmitted()).isTrue();
    assertThat(client.request(later).isAdmitted()).isFalse();
  }

  @Test
  void aPromptLargerThanTheRateRunsOnceAndMakesDebts() {
    ClientAccount client = client(0, 600);
    assertThat(client.prompt(1_200, 0).isAdmitted()).isTrue();
    ClientAccount.Answer next = client.prompt(1, 0);
    assertThat(next.verdict()).isEqualTo(Verdict.TOO_MANY_TOKENS);
    assertThat(next.retrySeconds()).isBetween(60, 62);
    assertThat(client.request(59 * SECOND).isAdmitted()).isFalse();
    assertThat(client.request(61 * SECOND).isAdmitted()).isTrue();
    assertThat(client.counts().promptTokens()).isEqualTo(1_200);
  }

  @Test
  void answersCountAndWhatWasEstimatedTooHighIsGivenBack() {
    ClientAccount client = client(0, 100);
    assertThat(client.prompt(90, 0).isAdmitted()).isTrue();
    client.settleUsage(-80, 30, 0);
    assertThat(client.counts().promptTokens()).isEqualTo(10);
    assertThat(client.counts().answerTokens()).isEqualTo(30);
    assertThat(client.prompt(60, 0).isAdmitted()).isTrue();
    assertThat(client.prompt(1, 0).isAdmitted()).isFalse();
  }

  @Test
  void withoutRatesNothingIsRefused() {
    ClientAccount client = client(0, 0);
    for (int i = 0; i < 1_000; i++) {
      assertThat(client.request(0).isAdmitted()).isTrue();
      assertThat(client.prompt(1_000_000, 0).isAdmitted()).isTrue();
      client.settleUsage(0, 1_000_000, 0);
    }
  }

  @Test
  void anotherRateKeepsWhatWasUsed() {
    ClientAccount client = client(10, 0);
    for (int i = 0; i < 10; i++) {
      assertThat(client.request(0).isAdmitted()).isTrue();
    }
    client.change(config(1_000, 0), 0);
    assertThat(client.request(0).isAdmitted()).isFalse();
    client.change(config(0, 0), 0);
    assertThat(client.request(0).isAdmitted()).isTrue();
    client.change(config(5, 0), 0);
    assertThat(client.request(0).isAdmitted()).isTrue();
  }

  private static ClientAccount client(int requestsPerMinute, int tokensPerMinute) {
    return new ClientAccount(config(requestsPerMinute, tokensPerMinute), 0);
  }

  private static ApiKeyConfig config(int requestsPerMinute, int tokensPerMinute) {
    return new ApiKeyConfig(
        "a", List.of("0".repeat(64)), List.of(), 0, requestsPerMinute, tokensPerMinute);
  }
}
