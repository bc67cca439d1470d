# Unterm's shell integration for PowerShell. Marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E),
# and reports the working directory (OSC 7). PowerShell runs this file after the profile, by -NoExit -Command. The
# user's own prompt is kept. Changes no file.

# The nonce of marks is in a file. The file is removed once it is read, so that no environment contains the nonce.
if ($env:UNTERM_NONCE_FILE) {
    try {
        $Global:__UntermNonce = [IO.File]::ReadAllText($env:UNTERM_NONCE_FILE).Trim()
        [IO.File]::Delete($env:UNTERM_NONCE_FILE)
    } catch { }
    Remove-Item Env:UNTERM_NONCE_FILE
}

if ($Global:__UntermNonce -and -not $Global:__UntermOn) {
    $Global:__UntermOn = $true
    $Global:__UntermRan = $false
    $Global:__UntermPrompt = $function:prompt

    function Global:__UntermEscape([string]$text) {
        $text.Replace('\', '\\').Replace(';', '\x3b').Replace("`r", '').Replace("`n", '\x0a').Replace("`t", '\x09') -replace '\p{Cc}', ''
    }

    function Global:prompt {
        # Read these values first, because all commands below change them.
        $succeeded = $?
        $native = $Global:LASTEXITCODE
        $esc = [char]27
        $bell = [char]7
        $out = ''
        # Report the directory before the command's end, because a caller that waits for the end then asks for the
        # directory.
        if ($PWD.Provider.Name -eq 'FileSystem') {
            $out += "$esc]7;kitty-shell-cwd://$([Environment]::MachineName)$($PWD.ProviderPath.Replace('\', '/'))$bell"
        }
        if ($Global:__UntermRan) {
            $code = if ($succeeded) { 0 } elseif ($native) { $native } else { 1 }
            $out += "$esc]133;D;$code;nonce=$Global:__UntermNonce$bell"
        }
        $Global:__UntermRan = $false
        $out += "$esc]133;A;nonce=$Global:__UntermNonce$bell"
        # Restore both values, so that the user's prompt sees the same values as without this integration.
        $Global:LASTEXITCODE = $native
        if (-not $succeeded) { Write-Error 'unterm' -ErrorAction Ignore }
        $out += $Global:__UntermPrompt.Invoke()
        $Global:LASTEXITCODE = $native
        $out + "$esc]133;B$bell"
    }

    if (Get-Module -Name PSReadLine) {
        # Keep lines that Unterm types for `run` out of the history. For other lines, call the handler that was set
        # before.
        $Global:__UntermKeeps = (Get-PSReadLineOption).AddToHistoryHandler
        Set-PSReadLineOption -AddToHistoryHandler {
            param([string]$line)
            if ($line.StartsWith(' [Console]::Write("$([char]27)]1337;UntermRun=')) { return $false }
            if ($Global:__UntermKeeps) { return $Global:__UntermKeeps.Invoke($line) }
            $true
        }
        $Global:__UntermReadLine = $function:PSConsoleHostReadLine
        function Global:PSConsoleHostReadLine {
            $line = $Global:__UntermReadLine.Invoke()
            if ("$line".Trim()) {
                $Global:__UntermRan = $true
                $esc = [char]27
                $bell = [char]7
                [Console]::Write("$esc]633;E;$(__UntermEscape "$line");$Global:__UntermNonce$bell$esc]133;C;nonce=$Global:__UntermNonce$bell")
            }
            $line
        }
    }
}
