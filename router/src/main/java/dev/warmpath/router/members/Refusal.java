package dev.warmpath.router.members;

/**
 * A replica that was named and is not in the fleet.
 *
 * @param source where it was named
 * @param reason what to change, as a sentence
 */
public record Refusal(String source, String replica, String reason) {}
