return safety.time.zoned(Date.now(), timeZone).iso;
